package suite

import (
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// states records the calls of OnConnection.
type states struct {
	t    testing.TB
	next chan incumbent.ConnectionState
}

func (c *client) states() *states {
	s := &states{t: c.t, next: make(chan incumbent.ConnectionState, 1000)}
	c.OnConnection(func(state incumbent.ConnectionState) { s.next <- state })
	return s
}

func (s *states) expect(want ...incumbent.ConnectionState) {
	s.t.Helper()
	for _, w := range want {
		if got := recv(s.t, s.next, string(w)); got != w {
			s.t.Fatalf("got %s, want %s", got, w)
		}
	}
}

func TestASessionThatExpiresUnderALeader(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	changes := c.states()
	first := c.start(e.dir(), "leading")
	second := connected(t, e).start(e.dir(), "waiting")
	seen := watch(first.AddListener)
	held := first.lead()
	e.ExpireSession(e.session(held.Term().Path))
	changes.expect(incumbent.Connected, incumbent.Suspended, incumbent.Lost, incumbent.Reconnected)
	<-held.Context().Done()
	second.lead().Release()
	seen.until(t, "started", "stopped")
	first.state("draining")
	held.Release()
	first.enrolled(2)
	first.settled("waiting")
	second.close()
	again := first.lead()
	seen.until(t, "started", "stopped", "started")
	if again.Term().Session != 2 || again.Token() <= held.Token() || held.Check() == nil {
		t.Fatalf("%+v after %+v, the old one: %v", again.Term(), held.Term(), held.Check())
	}
	again.Release()
}

func TestASessionThatExpiresUnderAWaiter(t *testing.T) {
	e := inMemory(t)
	first := connected(t, e).start(e.dir(), "leading")
	c := connected(t, e)
	changes := c.states()
	second := c.start(e.dir(), "waiting")
	third := connected(t, e).start(e.dir(), "waiting")
	seen := watch(second.AddListener)
	e.ExpireSession(e.session(second.node()))
	changes.expect(incumbent.Connected, incumbent.Suspended, incumbent.Lost, incumbent.Reconnected)
	second.enrolled(2)
	second.settled("waiting")
	third.settled("waiting")
	if got := seen.all(); len(got) != 0 {
		t.Fatalf("a waiter got %q", got)
	}
	first.close()
	third.lead().Release()
}

func TestSuspendedAndBackInTheSameSession(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		changes := c.states()
		first := c.start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		seen := watch(first.AddListener)
		held := first.lead()
		held.Release()
		seen.until(t, "started")
		c.cut()
		// Whether it leads at this moment is luck: the client may have reconnected. That belief ended, its listener
		// says.
		changes.expect(incumbent.Connected, incumbent.Suspended, incumbent.Reconnected)
		seen.until(t, "started", "stopped", "started")
		again := first.lead()
		if again.Term().Path != held.Term().Path || again.Token() != held.Token() || held.Check() == nil {
			t.Fatalf("%+v, then %+v; the old one: %v", held.Term(), again.Term(), held.Check())
		}
		again.Release()
		confirmedBefore(t, c, first.id)
		second.c.cut()
		second.c.tape.Until("the waiter's return", func(r []events.Record) bool {
			return second.c.Connection() == incumbent.Reconnected
		})
		second.settled("waiting")
		if n := e.watches(second.node()); n != 1 {
			t.Fatalf("%d watches on the waiter's node, want its own", n)
		}
		if n := e.watches(first.node()); n != 2 {
			t.Fatalf("%d watches on the leader's node, want its own and the waiter's", n)
		}
		first.close()
		second.lead().Release()
		if n := second.c.tape.Effects(second.id, "create "); n != 1 {
			t.Fatalf("%d creates, want one", n)
		}
	})
}

// confirmedBefore checks that after the last attach, a write went through the
// quorum before the machine led again.
func confirmedBefore(t *testing.T, c *client, id events.ID) {
	t.Helper()
	confirmed := false
	c.tape.Until("leadership on the new connection", func(records []events.Record) (leads bool) {
		for _, r := range records {
			switch {
			case r.Event.Kind == events.ConnectionSuspended && r.Machine == events.SessionMachine:
				confirmed, leads = false, false
			case r.Event.Kind == events.ReplyMulti && r.Event.Code == events.OK && !leads:
				confirmed = true
			case r.Machine == id && r.To == "leading":
				leads = true
			}
		}
		return leads
	})
	if !confirmed {
		t.Fatalf("it led again without a confirmation:\n%s", c.tape.Tail(20))
	}
}

func TestAFewCutsInARowLeaveOneNodeAndOneWatchEach(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		first := connected(t, e).start(e.dir(), "leading")
		second := connected(t, e).start(e.dir(), "waiting")
		for range 4 {
			for _, l := range []latch{first, second} {
				changes := l.c.states()
				recv(t, changes.next, "the present state")
				l.c.cut()
				changes.expect(incumbent.Suspended, incumbent.Reconnected)
			}
			first.state("leading")
			second.settled("waiting")
		}
		if n := len(e.children(e.dir())); n != 2 {
			t.Fatalf("%d nodes, want two", n)
		}
		if own, ahead := e.watches(second.node()), e.watches(first.node()); own != 1 || ahead != 2 {
			t.Fatalf("%d watches on the waiter's node and %d on the leader's", own, ahead)
		}
		first.close()
		second.lead().Release()
		second.state("leading")
		fired := second.c.tape.Count(func(r events.Record) bool { return r.Event.Kind == events.WatchDeleted })
		if fired != 1 {
			t.Fatalf("one deletion caused %d reactions", fired)
		}
	})
}

func TestStartedBeforeThereIsAServer(t *testing.T) {
	e := inMemory(t)
	e.Stop()
	c := open(t, e)
	if c.Connection() != incumbent.Connecting {
		t.Fatal(c.Connection())
	}
	changes := c.states()
	l := c.newLatch(e.dir(), incumbent.LatchOptions{})
	ok(t, l.Start())
	l.state("suspended")
	read := make(chan error, 1)
	go func() {
		_, err := c.Line(c.ctx, e.dir())
		read <- err
	}()
	ok(t, e.Restart())
	ok(t, recv(t, read, "the line"))
	l.lead().Release()
	changes.expect(incumbent.Connected)
}

func TestCreatesOfOneEnrolmentDoNotCrossSessions(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	hit := e.once(enrols, verdict(zkmem.Verdict{Action: zkmem.CutBefore}))
	expired := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpCreateSession && r.Session != 0 },
		func(r zkmem.Request) zkmem.Verdict {
			e.ExpireSession(r.Session)
			return zkmem.Verdict{}
		})
	l := c.start(e.dir(), "leading")
	recv(t, hit, "the create")
	recv(t, expired, "the expiry")
	held := l.lead()
	defer held.Release()
	if held.Term().Session != 2 || e.session(held.Term().Path) == 0 || len(e.children(e.dir())) != 1 {
		t.Fatalf("%+v, %q", held.Term(), e.children(e.dir()))
	}
}
