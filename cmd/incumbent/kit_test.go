//go:build unix

package main_test

import (
	"context"
	"errors"
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) {
	// Tests wait for processes: several at a time, also on two cores. An argument decides otherwise.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(programtest.Build("incumbent")))
}

const patience = programtest.Patience

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// start runs the program against a server, or none.
func start(t *testing.T, srv *zkmem.Server, args ...string) *programtest.Program {
	t.Helper()
	servers := ""
	if srv != nil {
		servers = srv.Addr()
	}
	return programtest.Start(t, []string{"INCUMBENT_AUTH=", "INCUMBENT_SERVERS=" + servers}, args...)
}

// inLine waits until so many nodes stand in a line.
func inLine(t *testing.T, srv *zkmem.Server, dir string, n int) {
	t.Helper()
	if err := srv.WaitFor(within(t), func(v *zkmem.View) bool { return len(v.Children(dir)) == n }); err != nil {
		srv.View(func(v *zkmem.View) { t.Fatalf("%d in line, want %d: %v", len(v.Children(dir)), n, err) })
	}
}

// owner is the session of the first in a line.
func owner(t *testing.T, srv *zkmem.Server, dir string) (node string, session int64) {
	t.Helper()
	srv.View(func(v *zkmem.View) {
		for _, name := range v.Children(dir) {
			_, stat, err := v.Get(dir + "/" + name)
			if err == nil && (session == 0 || name[len(name)-10:] < node[len(node)-10:]) {
				node, session = dir+"/"+name, stat.EphemeralOwner
			}
		}
	})
	if session == 0 {
		t.Fatalf("nobody is in line at %s", dir)
	}
	return node, session
}

// participant is a latch of this process, in line.
func participant(t *testing.T, srv *zkmem.Server, dir, id string) *incumbent.Latch {
	t.Helper()
	before := 0
	srv.View(func(v *zkmem.View) { before = len(v.Children(dir)) })
	ctx := within(t)
	c, err := incumbent.Open(ctx, incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close %s: %v", id, err)
		}
	})
	l, err := c.Latch(dir, incumbent.LatchOptions{ID: id})
	if err == nil {
		err = l.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	inLine(t, srv, dir, before+1)
	return l
}
