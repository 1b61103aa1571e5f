//go:build linux

package upgrade

import (
	"context"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/upgrade/agent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// server is what old and new agents use together.
type server struct {
	t    testing.TB
	addr string
	dir  string // of this test alone
	tick time.Duration
	mem  *zkmem.Server // nil for a real one
	eye  *incumbent.Client
}

// on runs a test at the server in memory and at Debian's, if the older version is to run.
func on(t *testing.T, f func(*testing.T, *server, version)) {
	if !*full {
		return
	}
	old := older(t)
	t.Parallel()
	for _, kind := range []string{"memory", "real"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := &server{t: t, tick: realzk.SharedTick}
			if kind == "memory" {
				s.mem = zkmem.Start(t, zkmem.Options{Tick: s.tick})
				s.addr, s.dir = s.mem.Addr(), "/upgrade"
			} else {
				s.addr, s.dir = realzk.Shared(t)
			}
			s.look()
			f(t, s, old)
		})
	}
}

// timeout is every agent's session timeout. Only who is killed, stopped or cut off is late, unless the machine stands
// still: no test depends on who that is.
func (s *server) timeout() time.Duration { return 15 * s.tick }

func (s *server) orders(addr string) agent.Orders {
	return agent.Orders{Servers: addr, Timeout: s.timeout(), Tick: s.tick}
}

// look opens the client by which the test looks at lines.
func (s *server) look() {
	s.t.Helper()
	c, err := incumbent.Open(context.Background(),
		incumbent.Config{Servers: s.addr, SessionTimeout: s.timeout(), Tick: s.tick})
	ok(s.t, err)
	s.eye = c
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			s.t.Logf("the test's own client: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	ok(s.t, c.WaitConnected(ctx))
}

// awaitChildren waits until a node has n children.
func (s *server) awaitChildren(path string, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	var last []string
	for change, err := range s.eye.WatchChildren(ctx, path) {
		if err != nil {
			s.t.Fatalf("%s does not get %d children, but %q: %v", path, n, last, err)
		}
		if last = change.Children; len(last) == n {
			return
		}
	}
}
