package suite

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// once decides about the first request that matches, and closes hit then.
func (m memory) once(match func(zkmem.Request) bool, decide func(zkmem.Request) zkmem.Verdict) (hit chan struct{}) {
	hit = make(chan struct{})
	var done atomic.Bool
	m.t.(*testing.T).Cleanup(m.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if !match(r) || !done.CompareAndSwap(false, true) {
			return zkmem.Verdict{}
		}
		defer close(hit)
		return decide(r)
	}))
	return hit
}

func verdict(v zkmem.Verdict) func(zkmem.Request) zkmem.Verdict {
	return func(zkmem.Request) zkmem.Verdict { return v }
}

// enrols matches the create of an own node.
func enrols(r zkmem.Request) bool {
	return r.Op == zkmem.OpCreate && strings.Contains(r.Path, "/_c_")
}

// creates counts the creates of own nodes from now on.
func (m memory) creates() func() int {
	var n atomic.Int64
	m.t.(*testing.T).Cleanup(m.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if enrols(r) {
			n.Add(1)
		}
		return zkmem.Verdict{}
	}))
	return func() int { return int(n.Load()) }
}

func TestALostCreateReplyKeepsThePlace(t *testing.T) {
	e := inMemory(t)
	first := connected(t, e).start(e.dir(), "leading")
	second := connected(t, e)
	creates := e.creates()
	hit := e.once(enrols, verdict(zkmem.Verdict{Action: zkmem.CutAfter}))
	l := second.newLatch(e.dir(), incumbent.LatchOptions{})
	ok(t, l.Start())
	recv(t, hit, "the create")
	e.untilChildren(e.dir(), 2)
	made := e.children(e.dir())
	l.settled("waiting")
	if n := creates(); n != 1 {
		t.Fatalf("%d creates, want one", n)
	}
	third := connected(t, e).start(e.dir(), "waiting")
	e.untilChildren(e.dir(), 3)
	for _, name := range made {
		if !strings.Contains(strings.Join(e.children(e.dir()), " "), name) {
			t.Fatalf("%s is gone", name)
		}
	}
	first.close()
	l.lead().Release()
	if third.HasLeadership() {
		t.Fatal("two believe")
	}
}

func TestACreateThatNeverArrivedIsMadeUnderTheSameGUID(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	guids := make(chan string, 2)
	t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if enrols(r) {
			guids <- r.Path
		}
		return zkmem.Verdict{}
	}))
	// The directory is founded first, so that the create that is cut is the one that would have made the node.
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	hit := e.once(enrols, verdict(zkmem.Verdict{Action: zkmem.CutBefore}))
	l := c.start(e.dir(), "leading")
	recv(t, hit, "the create")
	if a, b := recv(t, guids, "a create"), recv(t, guids, "a second create"); a != b {
		t.Fatalf("one enrolment, two names: %s and %s", a, b)
	}
	e.untilChildren(e.dir(), 1)
	l.close()
}

func TestALostCreateReplyAndThenAnExpiry(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	var old atomic.Int64
	e.once(enrols, func(r zkmem.Request) zkmem.Verdict {
		old.Store(r.Session)
		return zkmem.Verdict{Action: zkmem.CutAfter}
	})
	// The server says "expired" and has not reaped the session yet.
	t.Cleanup(e.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpCreateSession && r.Session != 0 && r.Session == old.Load() {
			return zkmem.Verdict{Action: zkmem.Refuse}
		}
		return zkmem.Verdict{}
	}))
	l := c.newLatch(e.dir(), incumbent.LatchOptions{})
	ok(t, l.Start())
	l.settled("waiting") // behind the node of its own dead session, which grants nothing
	e.untilChildren(e.dir(), 2)
	if l.HasLeadership() {
		t.Fatal("a dead session's node granted leadership")
	}
	if !e.ExpireSession(old.Load()) {
		t.Fatal("the old session was not there")
	}
	l.lead().Release()
	e.untilChildren(e.dir(), 1)
}

func TestCloseRacesACreateInFlight(t *testing.T) {
	for name, action := range map[string]zkmem.Action{"answered": zkmem.Serve, "reply lost": zkmem.CutAfter,
		"never arrived": zkmem.CutBefore} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			c := connected(t, e)
			e.create("/suite", "", 0)
			e.create(e.dir(), "", 0)
			hold := make(chan struct{})
			hit := e.once(enrols, verdict(zkmem.Verdict{Wait: hold, Action: action}))
			l := c.newLatch(e.dir(), incumbent.LatchOptions{})
			ok(t, l.Start())
			recv(t, hit, "the create")
			closed := make(chan error, 1)
			go func() { closed <- l.Close(c.ctx) }()
			l.state("leaving")
			close(hold)
			ok(t, recv(t, closed, "Close"))
			if left := e.children(e.dir()); len(left) != 0 {
				t.Fatalf("left behind: %q", left)
			}
		})
	}
}

func TestCloseWithTheDeletesReplyLost(t *testing.T) {
	for name, action := range map[string]zkmem.Action{"done": zkmem.CutAfter, "not done": zkmem.CutBefore} {
		t.Run(name, func(t *testing.T) {
			e := inMemory(t)
			l := connected(t, e).start(e.dir(), "leading")
			hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpDelete },
				verdict(zkmem.Verdict{Action: action}))
			l.close()
			recv(t, hit, "the delete")
			if left := e.children(e.dir()); len(left) != 0 {
				t.Fatalf("left behind: %q", left)
			}
		})
	}
}

func TestThePredecessorVanishesBetweenListingAndWatch(t *testing.T) {
	e := inMemory(t)
	first := connected(t, e).start(e.dir(), "leading")
	second := connected(t, e).start(e.dir(), "waiting")
	third := connected(t, e)
	gone := second.node()
	hit := e.once(func(r zkmem.Request) bool { return r.Op == zkmem.OpGetData && r.Path == gone },
		func(zkmem.Request) zkmem.Verdict {
			_ = e.Delete(gone)
			return zkmem.Verdict{}
		})
	l := third.newLatch(e.dir(), incumbent.LatchOptions{})
	ok(t, l.Start())
	recv(t, hit, "the read of the predecessor")
	l.settled("waiting")
	second.enrolled(2)
	second.settled("waiting")
	if n := e.watches(gone); n != 0 {
		t.Fatalf("%d watches were left on the vanished node", n)
	}
	if n := third.tape.Effects(l.id, "create "); n != 1 {
		t.Fatalf("the waiter enrolled %d times: a missing predecessor means list again", n)
	}
	first.close()
	l.lead().Release()
	l.close()
	second.lead().Release()
}

func TestOneDeletionWakesOneWaiter(t *testing.T) {
	e := inMemory(t)
	first := connected(t, e).start(e.dir(), "leading")
	var rest []latch
	for range 4 {
		rest = append(rest, connected(t, e).start(e.dir(), "waiting"))
	}
	first.close()
	rest[0].lead().Release()
	for i, l := range rest[1:] {
		l.c.recorded()
		if n := l.c.tape.Count(func(r events.Record) bool { return r.Event.Kind == events.WatchDeleted }); n != 0 {
			t.Errorf("waiter %d was woken %d times", i+1, n)
		}
	}
}

func TestServersThatKnowNoContainers(t *testing.T) {
	e := inMemory(t, zkmem.Options{NoContainers: true})
	c := connected(t, e)
	for _, dir := range []string{"/one", "/two"} {
		c.start(e.dir()+dir, "leading").close()
	}
	ended := c.tape.Count(func(r events.Record) bool {
		return r.Machine == events.SessionMachine && r.Event.Kind == events.ConnectionSuspended
	})
	if ended != 1 {
		t.Errorf("the server ended %d connections, want 1: that it knows no containers is learned once for each client",
			ended)
	}
}

func TestTheLineSurvivesTheEndOfItsContainer(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).start(e.dir(), "leading")
	held := l.lead()
	e.remove(held.Term().Path)
	<-held.Context().Done()
	e.untilChildren(e.dir(), 0)
	e.remove(e.dir())
	e.remove("/suite")
	held.Release()
	again := l.lead()
	if again.Token() <= held.Token() || !strings.HasSuffix(again.Term().Path, "-0000000000") {
		t.Fatalf("token %d after %d on %s: the token grows although the sequence began again", again.Token(),
			held.Token(), again.Term().Path)
	}
	again.Release()
}
