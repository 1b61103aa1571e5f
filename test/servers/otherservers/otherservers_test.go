// Package otherservers tests against what servers other than ZooKeeper 3.8 do: ClickHouse
// Keeper, releases before 3.5, and both together, as switches of zkmem.
package otherservers

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ok = kit.OK

// client is a client under a recorder, which is replayed in the end.
type client struct {
	*incumbent.Client
	t    testing.TB
	ctx  context.Context
	tape *tape.Tape
}

func open(t testing.TB, srv *zkmem.Server) *client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	t.Cleanup(cancel)
	c := &client{t: t, ctx: ctx, tape: tape.New(t)}
	c.Client = kit.Recorded(t, c.tape, incumbent.Config{Servers: srv.Addr()}, kit.CloseConnected)
	ok(t, c.WaitConnected(ctx))
	return c
}

func (c *client) latch(path, id string) *incumbent.Latch {
	c.t.Helper()
	l, err := c.Latch(path, incumbent.LatchOptions{ID: id, Retry: incumbent.RetryForever(time.Millisecond)})
	ok(c.t, err)
	ok(c.t, l.Start())
	return l
}

func (c *client) lead(l *incumbent.Latch) *incumbent.Leadership {
	c.t.Helper()
	held, err := l.Await(c.ctx)
	if err != nil {
		c.t.Fatalf("Await: %v\n%s", err, c.tape.Tail(40))
	}
	return held
}

// session returns the only session's number of a server.
func session(t testing.TB, srv *zkmem.Server) int64 {
	t.Helper()
	all := srv.Sessions()
	if len(all) != 1 {
		t.Fatalf("%d sessions", len(all))
	}
	return all[0].ID
}

// children waits until a directory has so many children.
func children(t testing.TB, srv *zkmem.Server, dir string, want int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), tape.Within)
	defer cancel()
	if err := srv.WaitFor(ctx, func(v *zkmem.View) bool { return len(v.Children(dir)) == want }); err != nil {
		t.Fatalf("there are not %d children of %s", want, dir)
	}
}

// Whoever comes back to ClickHouse Keeper gets a new session, and go-zookeeper
// takes it for its own. The old node is nobody's: it grants nothing, and the next
// in line waits for it like for any dead session's.
func TestANewSessionOnReattachIsALostSession(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NewSessionIDOnReattach: true})
	c := open(t, srv)
	heard := make(chan incumbent.ConnectionState, 16)
	c.OnConnection(func(s incumbent.ConnectionState) { heard <- s })
	l := c.latch("/a/line", "first")
	held := c.lead(l)
	old := session(t, srv)
	srv.Disconnect(old)
	<-held.Context().Done()
	if err := held.Check(); !errors.Is(err, incumbent.ErrLeadershipLost) {
		t.Fatal(err)
	}
	held.Release()
	c.tape.Until("a second enrolment, in a session of its own", func(records []events.Record) bool {
		return made(records) == 2
	})
	c.tape.State("latch-1", "waiting") // behind its own old node
	if l.HasLeadership() {
		t.Fatal("leads by the node of a session that is over")
	}
	children(t, srv, "/a/line", 2)
	if !srv.ExpireSession(old) {
		t.Fatal("the old session is not there any more")
	}
	again := c.lead(l)
	if again.Token() <= held.Token() || again.Term().Session <= held.Term().Session {
		t.Fatalf("%+v after %+v", again.Term(), held.Term())
	}
	again.Release()
	children(t, srv, "/a/line", 1)
	states := fmt.Sprintln(<-heard, <-heard, <-heard, <-heard)
	if states != "CONNECTED SUSPENDED LOST RECONNECTED\n" {
		t.Fatal(states)
	}
}

// made counts the nodes that the one latch has made.
func made(records []events.Record) (n int) {
	for _, r := range records {
		if r.Machine == "latch-1" && r.Event.Kind == events.ReplyCreate && r.Event.Code == events.OK &&
			r.To == "listing" {
			n++
		}
	}
	return n
}

// Two clients on such a server: never two believers, in whatever order they
// come back.
func TestANewSessionOnReattachLeavesOneLeader(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NewSessionIDOnReattach: true})
	one, two := open(t, srv), open(t, srv)
	first := one.latch("/line", "one")
	held := one.lead(first)
	second := two.latch("/line", "two")
	two.tape.State("latch-1", "waiting")
	highest := held.Token()
	for range 4 {
		for _, s := range srv.Sessions() {
			srv.Disconnect(s.ID)
		}
		<-held.Context().Done()
		held.Release()
		held = whoever(t, srv, one, first, second)
		if held.Token() <= highest {
			t.Fatalf("token %d after %d", held.Token(), highest)
		}
		highest = held.Token()
		if first.HasLeadership() && second.HasLeadership() {
			t.Fatal("two leaders")
		}
	}
	held.Release()
}

// whoever awaits both latches, while sessions that nobody came back for end.
func whoever(t *testing.T, srv *zkmem.Server, one *client, latches ...*incumbent.Latch) *incumbent.Leadership {
	t.Helper()
	reaping, stop := context.WithCancel(one.ctx)
	reaped := make(chan bool)
	go func() {
		defer close(reaped)
		reap(reaping, srv)
	}()
	type outcome struct {
		who  int
		held *incumbent.Leadership
	}
	won := make(chan outcome)
	var giveUp []context.CancelFunc
	for i, l := range latches {
		ctx, cancel := context.WithCancel(one.ctx)
		giveUp = append(giveUp, cancel)
		go func() {
			held, _ := l.Await(ctx) // nil with an error
			won <- outcome{i, held}
		}()
	}
	var held *incumbent.Leadership
	for range latches {
		o := <-won
		switch {
		case o.held != nil && held != nil:
			t.Error("two terms at once")
			o.held.Release()
		case o.held != nil:
			held = o.held
			for i, cancel := range giveUp {
				if i != o.who {
					cancel()
				}
			}
		}
	}
	stop()
	<-reaped
	if held == nil {
		t.Fatal("nobody leads")
	}
	return held
}

// reap ends every session that has no connection, until the context ends.
func reap(ctx context.Context, srv *zkmem.Server) {
	var gone int64
	for srv.WaitFor(ctx, func(v *zkmem.View) bool {
		for _, s := range v.Sessions() {
			if gone = s.ID; s.Addr == "" {
				return true
			}
		}
		return false
	}) == nil {
		srv.ExpireSession(gone)
	}
}

// Before 3.5.3 there are no containers, before 3.5 no create2: the server answers
// Unimplemented and closes the connection. The parents are made as persistent
// nodes; what the machine has learnt outlives the reconnect.
func TestAFreshPathOnOldServers(t *testing.T) {
	for name, o := range map[string]zkmem.Options{
		"no containers": {NoContainers: true},
		"no create2":    {NoCreate2: true},
		"3.4":           {NoContainers: true, NoCreate2: true},
	} {
		t.Run(name, func(t *testing.T) {
			srv := zkmem.Start(t, o)
			c := open(t, srv)
			srv.ResetCounts()
			c.lead(c.latch("/a/b/c", "one")).Release()
			counts := srv.Counts()
			t.Logf("%d requests, %d handshakes: %v", counts.Total, counts.Handshakes, counts.ByOp)
			if counts.Total > 16 || counts.Handshakes > 2 {
				t.Errorf("a fresh path of depth 3 took %d requests and %d connections", counts.Total, counts.Handshakes)
			}
			srv.ResetCounts()
			c.lead(c.latch("/a/b/d/e", "two")).Release()
			counts = srv.Counts()
			t.Logf("the second: %d requests, %d handshakes", counts.Total, counts.Handshakes)
			if counts.Total > 20 || counts.Handshakes > 2 {
				t.Errorf("a second path took %d requests and %d connections", counts.Total, counts.Handshakes)
			}
		})
	}
}

// The fallback costs a connection. A selector that does not queue again by itself
// ends its wait with a connection, but not with this one.
func TestASelectorThatLeadsOnceOnAnOldServer(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NoContainers: true, NoCreate2: true})
	c := open(t, srv)
	led := 0
	s, err := c.Selector("/a/b/c", func(l *incumbent.Leadership) error {
		led++
		return l.Check()
	}, incumbent.SelectorOptions{})
	ok(t, err)
	if err := s.Run(c.ctx); err != nil || led != 1 {
		t.Fatalf("led %d times: %v\n%s", led, err, c.tape.Tail(30))
	}
}

// Both at once: what old servers know, and what Keeper does on a reconnect. The
// fallback's own disconnect is a lost session then.
func TestAllHabitsAtOnce(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{NoContainers: true, NoCreate2: true, NewSessionIDOnReattach: true})
	c := open(t, srv)
	c.lead(c.latch("/a/b/c", "one")).Release()
	if n := srv.Counts().Total; n > 24 {
		t.Errorf("%d requests", n)
	}
}
