//go:build unix

package deploy

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// manifests are the documents of kubernetes.yaml, in their order.
type manifests struct {
	deployment deployment
	budget     budget
	claim      claim
	policy     policy
}

// readManifests decodes the documents. They have no field that these types do not know.
func readManifests(t *testing.T) (all manifests) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes.yaml")))
	decoder.KnownFields(true)
	for _, into := range []any{&all.deployment, &all.budget, &all.claim, &all.policy} {
		if err := decoder.Decode(into); err != nil {
			t.Fatalf("%T: %v", into, err)
		}
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("there is another document: %v", err)
	}
	return all
}

// The container's command line runs, each probe is answered, and why explains the flight log.
func TestManifests(t *testing.T) {
	all := readManifests(t)
	d, b := all.deployment, all.budget
	app := d.Spec.Template.Metadata.Labels["app"]
	if d.APIVersion != "apps/v1" || d.Kind != "Deployment" || b.APIVersion != "policy/v1" ||
		b.Kind != "PodDisruptionBudget" ||
		app == "" || d.Spec.Selector.MatchLabels["app"] != app || b.Spec.Selector.MatchLabels["app"] != app ||
		b.Spec.MinAvailable >= d.Spec.Replicas {
		t.Errorf("the deployment and its budget do not fit: %+v %+v", d, b)
	}
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	port := d.Spec.Template.Metadata.Annotations["prometheus.io/port"]
	if len(c.Ports) != 1 || c.Ports[0].ContainerPort != port || !slices.Contains(c.Args, "0.0.0.0:"+port) ||
		pod.TerminationGracePeriodSeconds < 15 {
		t.Errorf("port %q, and %+v", port, c)
	}
	env := []string{"POD_NAME=pod-1"}
	names := map[string]bool{}
	for _, e := range c.Env {
		names[e.Name] = true
	}
	if !names["POD_NAME"] || !names["INCUMBENT_SERVERS"] {
		t.Errorf("the container's environment is %+v", c.Env)
	}
	srv, state, binary := zkmem.Start(t), t.TempDir(), built(t)
	base, stop := run(t, binary, replaced(local(t, state), c.Args), append(env, "INCUMBENT_SERVERS="+srv.Addr()))
	inLine(t, srv)
	metrics := d.Spec.Template.Metadata.Annotations["prometheus.io/path"]
	for _, path := range []string{c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path, metrics} {
		if code := get(t, base+path); code != http.StatusOK {
			t.Errorf("%s is %d", path, code)
		}
	}
	name := c.Ports[0].Name
	if c.LivenessProbe.HTTPGet.Path != "/livez" || c.LivenessProbe.HTTPGet.Port != name ||
		c.ReadinessProbe.HTTPGet.Port != name {
		t.Errorf("the probes are %+v and %+v", c.LivenessProbe, c.ReadinessProbe)
	}
	stop()
	explains(t, binary, state+"/flight/")
}

// Replicas are on several nodes, and only Prometheus reaches the port.
func TestPodsAreSpreadAndClosed(t *testing.T) {
	all := readManifests(t)
	pod, app := all.deployment.Spec.Template.Spec, all.deployment.Spec.Template.Metadata.Labels["app"]
	if s := pod.TopologySpreadConstraints; len(s) != 1 || s[0].MaxSkew != 1 ||
		s[0].TopologyKey != "kubernetes.io/hostname" ||
		s[0].WhenUnsatisfiable != "ScheduleAnyway" || s[0].LabelSelector.MatchLabels["app"] != app {
		t.Errorf("replicas may share a node, or none fits: %+v", s)
	}
	n := all.policy
	if n.APIVersion != "networking.k8s.io/v1" || n.Kind != "NetworkPolicy" ||
		n.Spec.PodSelector.MatchLabels["app"] != app ||
		!slices.Equal(n.Spec.PolicyTypes, []string{"Ingress"}) {
		t.Errorf("the policy is not for what comes to the pods: %+v", n)
	}
	for _, rule := range n.Spec.Ingress {
		if len(rule.From) != 1 || len(rule.From[0].NamespaceSelector.MatchLabels) == 0 || len(rule.Ports) != 1 ||
			rule.Ports[0].Protocol != "TCP" || rule.Ports[0].Port != pod.Containers[0].Ports[0].Name {
			t.Errorf("the policy lets more in than one namespace to one port: %+v", rule)
		}
	}
	if len(n.Spec.Ingress) != 1 {
		t.Errorf("%d rules of the policy", len(n.Spec.Ingress))
	}
}

// The secret is a file that no other user may read, and logs are on a volume that all pods write to.
func TestFilesOfThePodAreOnVolumes(t *testing.T) {
	all := readManifests(t)
	pod := all.deployment.Spec.Template.Spec
	c := pod.Containers[0]
	mounted := map[string]string{} // by volume
	for _, m := range c.VolumeMounts {
		mounted[m.Name] = m.MountPath
		if (m.Name == "auth") != m.ReadOnly {
			t.Errorf("%+v", m)
		}
	}
	follows := func(flag string) string { return c.Args[slices.Index(c.Args, flag)+1] }
	if follows("--auth-file") != mounted["auth"]+"/auth" || follows("--record") != mounted["flight"]+"/" ||
		len(mounted) != 2 || len(pod.Volumes) != 2 {
		t.Errorf("%q are not on the volumes %v", c.Args, mounted)
	}
	if pod.SecurityContext.FSGroup == 0 || pod.SecurityContext.FSGroup != pod.SecurityContext.RunAsUser {
		t.Errorf("the container's user cannot read a file of mode 0400, or not write the log: %+v", pod.SecurityContext)
	}
	for _, v := range pod.Volumes {
		switch {
		case v.Name == "auth" && v.Secret != nil && v.Secret.DefaultMode == 0o400 && v.Secret.SecretName != "":
		case v.Name == "flight" && v.PersistentVolumeClaim != nil &&
			v.PersistentVolumeClaim.ClaimName == all.claim.Metadata.Name:
		default:
			t.Errorf("the volume %+v", v)
		}
	}
	if p := all.claim; p.APIVersion != "v1" || p.Kind != "PersistentVolumeClaim" ||
		p.Spec.Resources.Requests["storage"] == "" ||
		!slices.Equal(p.Spec.AccessModes, []string{"ReadWriteMany"}) {
		t.Errorf("the claim %+v", p)
	}
}
