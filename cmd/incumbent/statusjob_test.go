//go:build unix

package main_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const jobPath = "/ns/job"

// newJobServer returns a server with an ElasticJob job of four items, which has failover.
func newJobServer(t *testing.T) *zkmem.Server {
	t.Helper()
	srv := zkmem.Start(t)
	put(t, srv, jobPath+"/config", "failover: true\njobName: job\nmisfire: true\nmonitorExecution: true\n"+
		"shardingItemParameters: 0=north\nshardingTotalCount: 4\n")
	return srv
}

// put creates a persistent node below the job's, and its parents.
func put(t *testing.T, srv *zkmem.Server, path, data string) {
	t.Helper()
	for i := 1; i < len(path); i++ {
		if path[i] == '/' {
			_, _ = srv.Create(path[:i], []byte{}, zkmem.Persistent) // it may exist
		}
	}
	if _, err := srv.Create(path, []byte(data), zkmem.Persistent); err != nil {
		t.Fatal(path, err)
	}
}

// putInstance creates the nodes of an instance, as Java does.
func putInstance(t *testing.T, srv *zkmem.Server, ip, state string) {
	t.Helper()
	put(t, srv, jobPath+"/servers/"+ip, state)
	put(t, srv, jobPath+"/instances/"+ip+"@-@1", fmt.Sprintf("jobInstanceId: %s@-@1\nserverIp: %s\n", ip, ip))
}

// leadJob lets an instance of this process lead the job, which has no items itself, until the test ends.
func leadJob(t *testing.T, srv *zkmem.Server, id string) {
	t.Helper()
	c, err := incumbent.Open(within(t), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	job, err := c.Job(jobPath, incumbent.JobOptions{Mode: incumbent.JobDeals, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() { ended <- job.Run(ctx, nil) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := c.Close(within(t)); err != nil {
			t.Error(err)
		}
	})
}

// owners waits until the items have these owners and are dealt.
func owners(t *testing.T, srv *zkmem.Server, want ...string) {
	t.Helper()
	got := make([]string, len(want))
	err := srv.WaitFor(within(t), func(v *zkmem.View) bool {
		for n := range got {
			data, _, _ := v.Get(fmt.Sprintf("%s/sharding/%d/instance", jobPath, n))
			got[n] = string(data)
		}
		_, _, necessary := v.Get(jobPath + "/leader/sharding/necessary")
		return necessary != nil && fmt.Sprint(got) == fmt.Sprint(want)
	})
	if err != nil {
		t.Fatalf("owners %q, want %q: %v", got, want, err)
	}
}

// row returns the words of status's line about an item.
func row(out string, item int) string {
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == fmt.Sprint(item) {
			return strings.Join(fields, " ")
		}
	}
	return ""
}

func TestStatusOfAJobNamesItemsAndOwners(t *testing.T) {
	srv := newJobServer(t)
	putInstance(t, srv, "192.0.2.1", "ENABLED")
	putInstance(t, srv, "192.0.2.2", "ENABLED")
	putInstance(t, srv, "192.0.2.3", "DISABLED")
	leadJob(t, srv, "192.0.2.9@-@1")
	owners(t, srv, "192.0.2.2@-@1", "192.0.2.2@-@1", "192.0.2.1@-@1", "192.0.2.1@-@1")

	out := start(t, srv, "status", jobPath).Exits(0).Out.String()
	programtest.Contains(t, out, `/ns/job: an ElasticJob job, led by "192.0.2.9@-@1" with token `,
		": 4 items, 3 instances",
		`1 instance without an item: "192.0.2.3@-@1"`, "server 192.0.2.3 is DISABLED")
	for item, want := range []string{`0 "192.0.2.2@-@1"`, `1 "192.0.2.2@-@1"`,
		`2 "192.0.2.1@-@1"`, `3 "192.0.2.1@-@1"`} {
		if got := row(out, item); got != want {
			t.Errorf("item %d: %q, want %q\n%s", item, got, want, out)
		}
	}
	if strings.Contains(out, "have to be dealt") || strings.Contains(out, "192.0.2.1 is DISABLED") {
		t.Error(out)
	}

	for path, data := range map[string]string{"sharding/0/running": "192.0.2.2@-@1", "sharding/0/misfire": "",
		"sharding/1/disabled": "", "sharding/2/failover": "192.0.2.2@-@1", "leader/failover/items/3": "",
		"leader/sharding/processing": ""} {
		put(t, srv, jobPath+"/"+path, data)
	}
	// what runs keeps the rest from being dealt
	if err := srv.Delete(jobPath + "/instances/192.0.2.1@-@1"); err != nil {
		t.Fatal(err)
	}
	necessary := func(v *zkmem.View) bool {
		_, _, err := v.Get(jobPath + "/leader/sharding/necessary")
		return err == nil
	}
	if err := srv.WaitFor(within(t), necessary); err != nil {
		t.Fatal(err)
	}
	out = start(t, srv, "status", jobPath).Exits(0).Out.String()
	programtest.Contains(t, out, "the items have to be dealt", "a leader in Java deals")
	for item, want := range []string{`0 "192.0.2.2@-@1" running, misfire: runs once more`, `1 "192.0.2.2@-@1" DISABLED`,
		`2 "192.0.2.1@-@1" its instance is gone, failover: taken over by "192.0.2.2@-@1"`,
		`3 "192.0.2.1@-@1" its instance is gone, failover: to be taken over`} {
		if got := row(out, item); got != want {
			t.Errorf("item %d: %q, want %q\n%s", item, got, want, out)
		}
	}
}

func TestStatusOfAJobAsJSON(t *testing.T) {
	srv := newJobServer(t)
	putInstance(t, srv, "192.0.2.1", "ENABLED")
	putInstance(t, srv, "192.0.2.3", "DISABLED")
	o := start(t, srv, "status", jobPath, "--json").Exits(0).Objects()[0]
	items := o["job"].(map[string]any)["items"].([]any)
	if o["vacant"] != true || len(items) != 4 || items[0].(map[string]any)["instance"] != "" {
		t.Errorf("nobody leads, and nothing is dealt: %v", o)
	}
	leadJob(t, srv, "192.0.2.9@-@1")
	mine := "192.0.2.1@-@1"
	owners(t, srv, mine, mine, mine, mine)
	put(t, srv, jobPath+"/sharding/1/disabled", "")
	o = start(t, srv, "status", jobPath, "--json").Exits(0).Objects()[0]
	if o["vacant"] != false || o["participants"].([]any)[0].(map[string]any)["id"] != "192.0.2.9@-@1" {
		t.Errorf("%v", o)
	}
	job := o["job"].(map[string]any)
	items = job["items"].([]any)
	first, second := items[0].(map[string]any), items[1].(map[string]any)
	if first["instance"] != mine || first["alive"] != true || first["disabled"] != false ||
		first["parameter"] != "north" ||
		second["disabled"] != true || second["item"] != 1.0 || job["necessary"] != false {
		t.Errorf("%v", job)
	}
	if fmt.Sprint(job["servers"]) != "[map[address:192.0.2.1 disabled:false] map[address:192.0.2.3 disabled:true]]" ||
		fmt.Sprint(job["instances"]) != "[192.0.2.1@-@1 192.0.2.3@-@1]" {
		t.Errorf("%v", job)
	}
}

// A configuration that cannot be read, an odd id, a marker that stays and a marker that may not be read are shown, and
// a directory that only looks like a job is none.
func TestStatusOfAJobThatIsNotWhole(t *testing.T) {
	srv := newJobServer(t)
	put(t, srv, jobPath+"/sharding/0/instance", hostile)
	put(t, srv, jobPath+"/servers/\u202e", "DISABLED")
	out := start(t, srv, "status", jobPath).Exits(0).Out.String()
	programtest.Contains(t, out, "led by nobody", `"\x1b]0;owned\a`, "its instance is gone")
	if strings.ContainsAny(out, "\x1b\a\u202e") {
		t.Errorf("what others wrote came out as it is: %q", out)
	}
	if err := srv.Set(jobPath+"/config", []byte("shardingTotalCount: many\n")); err != nil {
		t.Fatal(err)
	}
	programtest.Contains(t, start(t, srv, "status", jobPath).Exits(0).Out.String(), "its items are not known: ", "many")
	o := start(t, srv, "status", jobPath, "--json").Exits(0).Objects()[0]["job"].(map[string]any)
	if fmt.Sprint(o["items"]) != "[]" || !strings.Contains(fmt.Sprint(o["error"]), "shardingTotalCount") {
		t.Errorf("%v", o)
	}

	put(t, srv, jobPath+"/leader/election/instance", "old")
	programtest.Contains(t, start(t, srv, "status", jobPath).Exits(0).Out.String(),
		`nobody can lead: "old"'s node instance is persistent`)
	secret := []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "digest", ID: "x:y"}}
	if _, err := srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: jobPath + "/leader/election/instance", ACL: secret,
		Version: zkmem.AnyVersion}); err != nil {
		t.Fatal(err)
	}
	programtest.Contains(t, start(t, srv, "status", jobPath).Exits(0).Out.String(),
		"its leader cannot be read: not authorised")

	put(t, srv, "/other/config", "{}")
	put(t, srv, "/other/queue", "")
	programtest.Contains(t, start(t, srv, "status", "/other").Exits(0).Out.String(), "vacant, nobody is in line",
		"2 children that belong to no recipe")
	if o := start(t, srv, "status", "/other", "--json").Exits(0).Objects()[0]; o["job"] != nil || o["foreign"] != 2.0 {
		t.Errorf("%v", o)
	}
}
