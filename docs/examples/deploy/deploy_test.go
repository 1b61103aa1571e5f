//go:build unix

package deploy

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const root = "../../.." // of the checkout

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r", "")
}

// program is what built made.
var program struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if program.dir != "" {
		_ = os.RemoveAll(program.dir)
	}
	os.Exit(code)
}

// built returns the program, built as the Containerfile does. It leaves -trimpath out: with it, everything would be compiled a
// second time, and nothing that is tested here would change.
func built(t *testing.T) string {
	t.Helper()
	command := regexp.MustCompile(`(?m)^RUN (CGO_ENABLED=0 go build )-trimpath (.*) -o /incumbent (\./cmd/incumbent)$`).FindStringSubmatch(read(t, "Containerfile"))
	if command == nil {
		t.Fatal("the Containerfile does not build /incumbent without cgo and with -trimpath")
	}
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "deploy"); program.err != nil {
			return
		}
		sh := exec.Command("sh", "-c", command[1]+command[2]+" -o "+program.dir+"/incumbent "+command[3])
		sh.Dir = root
		if out, err := sh.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
	return filepath.Join(program.dir, "incumbent")
}

// run runs elect as a file says, but with cat as the command, and returns the address of its health endpoints. Stop sends
// it SIGTERM and awaits its end.
func run(t *testing.T, binary string, args, env []string) (base string, stop func()) {
	t.Helper()
	dashes := slices.Index(args, "--")
	if dashes < 0 || len(args) != dashes+2 {
		t.Fatalf("%q runs no command", args)
	}
	c := exec.Command(binary, append(slices.Clone(args[:dashes+1]), "cat")...)
	c.Env = append(os.Environ(), env...)
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	said, lines := "", bufio.NewScanner(stderr)
	for base == "" {
		if !lines.Scan() {
			t.Fatalf("%q ended: %v\n%s", c.Args, c.Wait(), said)
		}
		said += lines.Text() + "\n"
		if at := regexp.MustCompile(`http://\S+`).FindString(lines.Text()); at != "" {
			base = at
		}
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	return base, func() {
		t.Helper()
		_ = c.Process.Signal(syscall.SIGTERM)
		<-drained
		_ = stdin.Close()
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) || ended.ExitCode() != 128+int(syscall.SIGTERM) {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// The program that the Containerfile builds needs no other file to run, and what is copied exists in the stage that it names.
func TestContainerfile(t *testing.T) {
	binary := built(t)
	if f, err := elf.Open(binary); err == nil { // not on macOS
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				t.Error("it is linked dynamically: there is no linker in an image FROM scratch")
			}
		}
		_ = f.Close()
	}
	if out, err := exec.Command(binary, "--version").CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("incumbent ")) {
		t.Errorf("%v %s", err, out)
	}
	known := map[string]string{"FROM": `^\S+( AS \w+)?$`, "WORKDIR": `^/\S*$`, "COPY": `^(--from=\w+ )?\S+ \S+$`, "RUN": `^\S`, "USER": `^[1-9]\d*:[1-9]\d*$`,
		"EXPOSE": `^\d+$`, "ENTRYPOINT": `^\["/incumbent"\]$`, "CMD": `^\["[^"]+"(, "[^"]+")*\]$`}
	stages := []string{}
	for _, line := range strings.Split(read(t, "Containerfile"), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		instruction, rest, _ := strings.Cut(line, " ")
		if form, is := known[instruction]; !is || !regexp.MustCompile(form).MatchString(rest) {
			t.Errorf("%q is no instruction, or has another form", line)
		}
		if _, stage, named := strings.Cut(rest, " AS "); named && instruction == "FROM" {
			stages = append(stages, stage)
		}
		if from, is := strings.CutPrefix(rest, "--from="); is && !slices.Contains(stages, strings.Fields(from)[0]) {
			t.Errorf("%q copies from a stage that is not there: %q", line, stages)
		}
	}
}

// The unit's command line runs, is ready, feeds the watchdog, and ends by SIGTERM; systemd-analyze finds nothing in the unit.
func TestUnit(t *testing.T) {
	unit := read(t, "nightly.service")
	command := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(unit)[1]
	binary, state := built(t), t.TempDir()
	args := strings.Fields(strings.NewReplacer("/var/lib/nightly", state, ":4040", ":0").Replace(command))
	dir, err := os.MkdirTemp("", "deploy") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	base, stop := run(t, binary, args[1:], []string{"INCUMBENT_SERVERS=" + zkmem.Start(t).Addr(), "NOTIFY_SOCKET=" + filepath.Join(dir, "s"), "WATCHDOG_USEC=200000"})
	for _, want := range []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"} {
		for buf, said := make([]byte, 4096), ""; !strings.Contains(said, want); {
			_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
			n, err := socket.Read(buf)
			if err != nil {
				t.Fatalf("no %s: %v", want, err)
			}
			said = string(buf[:n])
		}
	}
	if code := get(t, base+"/livez"); code != http.StatusOK {
		t.Errorf("/livez is %d", code)
	}
	stop()
	if logs, err := filepath.Glob(state + "/flight/*"); err != nil || len(logs) == 0 {
		t.Errorf("no flight log: %v %v", logs, err)
	}

	tool, err := exec.LookPath("systemd-analyze")
	switch {
	case err != nil && os.Getenv("INCUMBENT_REQUIRE") == "all":
		t.Fatal("not run: systemd-analyze is not installed")
	case err != nil:
		t.Skip("not run: systemd-analyze is not installed")
	}
	copied := filepath.Join(t.TempDir(), "nightly.service")
	if err := os.WriteFile(copied, []byte(strings.Replace(unit, "ExecStart=/usr/local/bin/incumbent ", "ExecStart="+binary+" ", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "verify", "--man=no", copied).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze: %v\n%s", err, out)
	}
}

// inLine waits until the program is in its line.
func inLine(t *testing.T, srv *zkmem.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return len(v.Children("/jobs/nightly")) == 1 }); err != nil {
		t.Fatal(err)
	}
}

// The command lines of the unit and of the container wait for an ensemble that is not there: they live, are not ready, and say
// why. When it has come, they are ready.
func TestWithoutAnEnsemble(t *testing.T) {
	unit := regexp.MustCompile(`(?m)^ExecStart=(.*)$`).FindStringSubmatch(read(t, "nightly.service"))[1]
	var d deployment
	if err := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes.yaml"))).Decode(&d); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	for name, args := range map[string][]string{
		"unit": strings.Fields(strings.NewReplacer("/var/lib/nightly", state, ":4040", ":0", " --notify", "").Replace(unit))[1:],
		"pod":  strings.Split(strings.Replace(strings.Join(d.Spec.Template.Spec.Containers[0].Args, "\x00"), "0.0.0.0:4040", "127.0.0.1:0", 1), "\x00"),
	} {
		addr, err := zkmem.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		base, stop := run(t, built(t), args, []string{"INCUMBENT_SERVERS=" + addr})
		if lives, ready := get(t, base+"/livez"), get(t, base+"/readyz"); lives != http.StatusOK || ready != http.StatusServiceUnavailable {
			t.Errorf("%s: /livez is %d and /readyz %d without an ensemble", name, lives, ready)
		}
		srv := zkmem.New(zkmem.Options{})
		if err := srv.Listen(addr); err != nil {
			t.Fatal(err)
		}
		inLine(t, srv)
		if ready := get(t, base+"/readyz"); ready != http.StatusOK {
			t.Errorf("%s: /readyz is %d in line", name, ready)
		}
		stop()
		srv.Close()
	}
}

// The manifests have no field that these types do not know, and the container's command line runs, with each probe answered.
func TestManifests(t *testing.T) {
	decoder := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes.yaml")))
	decoder.KnownFields(true)
	var d deployment
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	var b budget
	if err := decoder.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		t.Errorf("there is a third document: %v", err)
	}
	app := d.Spec.Template.Metadata.Labels["app"]
	if d.APIVersion != "apps/v1" || d.Kind != "Deployment" || b.APIVersion != "policy/v1" || b.Kind != "PodDisruptionBudget" ||
		app == "" || d.Spec.Selector.MatchLabels["app"] != app || b.Spec.Selector.MatchLabels["app"] != app || b.Spec.MinAvailable >= d.Spec.Replicas {
		t.Errorf("the deployment and its budget do not fit: %+v %+v", d, b)
	}
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	port := d.Spec.Template.Metadata.Annotations["prometheus.io/port"]
	if len(c.Ports) != 1 || c.Ports[0].ContainerPort != port || !slices.Contains(c.Args, "0.0.0.0:"+port) || pod.TerminationGracePeriodSeconds < 15 {
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
	srv := zkmem.Start(t)
	args := strings.Split(strings.NewReplacer("$(POD_NAME)", "pod-1", "0.0.0.0:"+port, "127.0.0.1:0").Replace(strings.Join(c.Args, "\x00")), "\x00")
	base, stop := run(t, built(t), args, append(env, "INCUMBENT_SERVERS="+srv.Addr()))
	inLine(t, srv)
	for _, path := range []string{c.LivenessProbe.HTTPGet.Path, c.ReadinessProbe.HTTPGet.Path, d.Spec.Template.Metadata.Annotations["prometheus.io/path"]} {
		if code := get(t, base+path); code != http.StatusOK {
			t.Errorf("%s is %d", path, code)
		}
	}
	if c.LivenessProbe.HTTPGet.Path != "/livez" || c.LivenessProbe.HTTPGet.Port != c.Ports[0].Name || c.ReadinessProbe.HTTPGet.Port != c.Ports[0].Name {
		t.Errorf("the probes are %+v and %+v", c.LivenessProbe, c.ReadinessProbe)
	}
	stop()
}
