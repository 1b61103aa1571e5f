//go:build unix

package main_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// recordedJob runs an instance of the job that is recorded. What it returns ends the instance, and returns the log.
func recordedJob(t *testing.T, srv *zkmem.Server, id string) (end func() (file string)) {
	t.Helper()
	name := strings.ReplaceAll(id, "@-@", "-")
	return recordedRun(t, srv, name, func(ctx context.Context, c *incumbent.Client) error {
		job, err := c.Job(jobPath, incumbent.JobOptions{ID: id})
		if err != nil {
			return err
		}
		return job.Run(ctx, func(context.Context, *incumbent.Item) error { return nil })
	})
}

// recordedRun calls run with a client that is recorded. What it returns ends run's context, and returns the log.
func recordedRun(t *testing.T, srv *zkmem.Server, name string,
	run func(context.Context, *incumbent.Client) error) (end func() (file string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name+".log")
	log, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := incumbent.Open(within(t), incumbent.Config{Servers: srv.Addr(), Record: incumbent.RecordTo(log)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, c) }()
	return func() string {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := c.Close(within(t)); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		return file
	}
}

// The logs of a job's instances say which items were dealt to which instance, and who took over what a dead one ran.
func TestWhyOfAJobNamesItemsAndOwners(t *testing.T) {
	t.Parallel()
	srv := newJobServer(t)
	putInstance(t, srv, "192.0.2.3", "ENABLED")
	leader := recordedJob(t, srv, "192.0.2.1@-@1")
	owners(t, srv, "192.0.2.3@-@1", "192.0.2.3@-@1", "192.0.2.1@-@1", "192.0.2.1@-@1")
	other := recordedJob(t, srv, "192.0.2.2@-@1")
	owners(t, srv, "192.0.2.3@-@1", "192.0.2.2@-@1", "192.0.2.1@-@1", "192.0.2.3@-@1")
	put(t, srv, jobPath+"/sharding/3/running", "192.0.2.3@-@1")
	if err := srv.Delete(jobPath + "/instances/192.0.2.3@-@1"); err != nil {
		t.Fatal(err)
	}
	owners(t, srv, "192.0.2.2@-@1", "192.0.2.2@-@1", "192.0.2.1@-@1", "192.0.2.1@-@1")
	taken := func(v *zkmem.View) bool {
		return len(v.Children(jobPath+"/leader/failover/items")) == 0 && len(v.Children(jobPath+"/sharding/3")) == 1
	}
	if err := srv.WaitFor(within(t), taken); err != nil {
		t.Fatal(err)
	}
	files := []string{other(), leader()}

	out := start(t, nil, append([]string{"why", "--full", "--path", jobPath}, files...)...).Exits(0).Out.String()
	programtest.Contains(t, out, "items 0, 3 to 192.0.2.3@-@1", "item 1 to 192.0.2.2@-@1", "offered item 3 to others",
		"took over item 3", "dealt items 0, 1 to 192.0.2.2@-@1, items 2, 3 to 192.0.2.1@-@1")
	var types []string
	for _, o := range start(t, nil, append([]string{"why", "--facts"}, files...)...).Exits(0).Objects() {
		if o["items"] != nil {
			types = append(types, o["type"].(string))
		}
	}
	for _, want := range []string{"dealt", "offered", "taken-over"} {
		if !strings.Contains(strings.Join(types, " "), want) {
			t.Errorf("no fact about items that were %s: %v", want, types)
		}
	}
	out = start(t, nil, append([]string{"why", "--redact"}, files...)...).Exits(0).Out.String()
	programtest.Contains(t, out, "took over item 3")
	if strings.Contains(out, "192.0.2") || strings.Contains(out, jobPath) {
		t.Errorf("names are left:\n%s", out)
	}
}
