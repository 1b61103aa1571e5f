package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const shards = 5

// group is some instances in one process.
type group struct {
	t   *testing.T
	ctx context.Context
	srv *zkmem.Server

	mu     sync.Mutex
	owners [shards]string // who works on a shard; "": nobody
	last   [shards]string // who had it last
	tokens [shards]int64  // the highest so far
	early  bool           // sessions are ended before their time
	more   chan struct{}  // closed at every change
}

// instance is one instance.
type instance struct {
	client *incumbent.Client
	end    func()
}

func newGroup(t *testing.T) *group {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return &group{t: t, ctx: ctx, srv: zkmem.Start(t), more: make(chan struct{})}
}

// begin starts an instance.
func (g *group) begin(id string) *instance {
	g.t.Helper()
	client, err := incumbent.Open(g.ctx, incumbent.Config{Servers: g.srv.Addr(), Silent: true})
	if err != nil {
		g.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(g.ctx)
	ended := make(chan error, 1)
	options := incumbent.ShardsOptions{ID: id, Settle: 100 * time.Millisecond}
	go func() {
		ended <- run(ctx, client, "/job", shards, options, func(s *incumbent.Shard) error {
			g.set(s, "", id)
			err := work(s)
			g.set(s, id, "")
			return err
		})
	}()
	end := sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			g.t.Errorf("%s: %v", id, err)
		}
		_ = client.Close(context.WithoutCancel(ctx))
	})
	g.t.Cleanup(end)
	return &instance{client, end}
}

// set notes who works on a shard. Who begins has a greater token than others before. No two work at a time,
// unless a session was ended before its time: then the greater token counts.
func (g *group) set(s *incumbent.Shard, from, to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	is := g.owners[s.ID]
	if is != from && !g.early {
		g.t.Errorf("shard %d is %q's, while %q begins or ends", s.ID, is, from+to)
	}
	switch last := g.tokens[s.ID]; {
	case to == "" && is == from:
		g.owners[s.ID] = ""
	case to == "":
	case s.Token() > last || s.Token() == last && g.last[s.ID] == to: // it goes on
		g.owners[s.ID], g.last[s.ID], g.tokens[s.ID] = to, to, s.Token()
	case !g.early: // else it began late
		g.t.Errorf("%q has shard %d with the token %d, and %q had %d", to, s.ID, s.Token(), g.last[s.ID], last)
	}
	close(g.more)
	g.more = make(chan struct{})
}

// has waits until each of these works on so many shards.
func (g *group) has(want map[string]int) {
	g.t.Helper()
	for {
		g.mu.Lock()
		now, more := map[string]int{}, g.more
		for _, owner := range g.owners {
			now[owner]++
		}
		g.mu.Unlock()
		right := true
		for id, n := range want {
			right = right && now[id] == n
		}
		if right {
			return
		}
		select {
		case <-more:
		case <-g.ctx.Done():
			g.t.Fatalf("they work on %v shards, want %v", now, want)
		}
	}
}

// Shards are shared out, and those of an instance that ends are another's.
func TestShardsAreSharedOut(t *testing.T) {
	g := newGroup(t)
	a := g.begin("a")
	g.has(map[string]int{"a": 5})
	b := g.begin("b")
	g.has(map[string]int{"": 0, "a": 3, "b": 2})
	g.begin("c")
	for end, one := range map[string]*instance{"a": a, "b": b} { // as SIGTERM does
		one.end()
		g.has(map[string]int{"": 0, end: 0})
	}
	g.has(map[string]int{"c": 5})
}

// An instance whose session expires, or that stands still or is cut off for so long, loses its shards, and has its part
// again when it is back. One that dies is not missed.
func TestFaultsAreSurvived(t *testing.T) {
	g := newGroup(t)
	g.early = true
	a := g.begin("a")
	g.has(map[string]int{"a": 5})
	g.begin("b")
	both := map[string]int{"": 0, "a": 3, "b": 2}
	g.has(both)
	for range 2 {
		g.srv.ExpireSession(a.client.SessionID())
		g.has(map[string]int{"": 0})
	}
	session := a.client.SessionID()
	g.srv.Freeze(zkmem.Inbound, session) // what it says is not heard, as that of a paused or dead process
	g.srv.ExpireSession(session)
	g.has(map[string]int{"a": 0, "b": 5})
	g.srv.Heal()
	g.has(map[string]int{"": 0})
	g.srv.Stop()
	g.has(map[string]int{"": 5})
	if err := g.srv.Restart(); err != nil {
		t.Fatal(err)
	}
	g.has(map[string]int{"": 0})
}
