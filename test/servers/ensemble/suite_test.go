package ensemble_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/servers/ensemble"
)

// three are latches a, b and c, in this order in line, each at a server of its own.
func three(t *testing.T, e *ensemble.Ensemble, w *witness) (a, b, c *node) {
	t.Helper()
	s := e.Servers()
	a = join(t, e, w, incumbent.LatchOptions{ID: "a"}, s[0])
	a.is("leading")
	b = join(t, e, w, incumbent.LatchOptions{ID: "b"}, s[1])
	b.is("waiting")
	c = join(t, e, w, incumbent.LatchOptions{ID: "c"}, s[2])
	c.is("waiting")
	return a, b, c
}

// anyLeads waits until one of them leads.
func anyLeads(t *testing.T, a, b, c *node) (token int64) {
	t.Helper()
	select {
	case token = <-a.led:
	case token = <-b.led:
	case token = <-c.led:
	case <-time.After(enough):
		t.Fatal("nobody leads")
	}
	return token
}

// inTurn waits for a node's term. A node whose connection ended may have lost its place: the machine's pauses are
// longer than what servers and sessions bear here. Then another leads, and the round begins again.
func inTurn(t *repeat.Round, n *node, all ...*node) (token int64) {
	t.Helper()
	late, limit := time.NewTicker(20*time.Second), time.After(enough)
	defer late.Stop()
	for {
		select {
		case token = <-n.led:
			return token
		case <-late.C:
			for _, one := range all {
				if one.tape.Count(suspended) > 0 {
					t.Again("the connection of %s ended, and it is not the turn of %s", one.ID(), n.ID())
				}
			}
		case <-limit:
			t.Fatalf("%s never led, and no connection ended\n%s", n.ID(), n.tape.Tail(40))
		}
	}
}

func suspended(r events.Record) bool { return r.Event.Kind == events.ConnectionSuspended }

func TestLeadershipIsHandedOverInTheOrderOfTheLine(t *testing.T) {
	repeat.Rounds(t, handedOverInOrder)
}

func handedOverInOrder(t *repeat.Round) {
	e := ensemble.Start(t, short)
	a, b, c := three(t.T, e, newWitness(t.T))
	last := int64(0)
	for range 5 {
		for _, n := range []*node{a, b, c} {
			token := inTurn(t, n, a, b, c)
			if token <= last {
				t.Fatalf("token %d after %d", token, last)
			}
			last = token
			ctx, cancel := context.WithTimeout(context.Background(), enough)
			ok(t, n.Resign(ctx))
			cancel()
			n.is("waiting") // before the next one resigns, or that one may be ahead of it in the line
		}
	}
}

// A leader hears that its node was deleted from its own server, and the next in line from another: for as long as that
// takes, two may believe. Evict says so.
func TestAnOperatorDeletesNodes(t *testing.T) { repeat.Rounds(t, anOperatorDeletesNodes) }

func anOperatorDeletesNodes(t *repeat.Round) {
	e := ensemble.Start(t, short)
	w := newWitness(t.T)
	w.brief = true
	a, b, c := three(t.T, e, w)
	first := a.leads()

	remove(t.T, e.Servers()[2], b.own()) // c's predecessor: nobody's belief changes
	b.is("waiting")
	remove(t.T, e.Servers()[1], a.own()) // the leader's own
	if token := inTurn(t, c, a, b, c); token <= first {
		t.Fatalf("token %d after %d", token, first)
	}
	a.lost(1)

	var nodes []string
	for _, n := range []*node{a, b, c} {
		n.is(map[*node]string{a: "waiting", b: "waiting", c: "leading"}[n])
		nodes = append(nodes, n.own())
	}
	remove(t.T, e.Servers()[0], append(nodes, line)...) // all, and the parent if they leave it alone for that long
	anyLeads(t.T, a, b, c)
}

func TestTheEnsemblesLeaderDiesWhileALatchLeads(t *testing.T) {
	repeat.Rounds(t, theLeaderDiesWhileALatchLeads)
}

func theLeaderDiesWhileALatchLeads(t *repeat.Round) {
	e := ensemble.Start(t, short)
	zkLeader, followers := e.Whole()
	w := newWitness(t.T)
	nodes := map[*ensemble.Server]*node{}
	for i, s := range append([]*ensemble.Server{zkLeader}, followers...) {
		n := join(t.T, e, w, incumbent.LatchOptions{ID: fmt.Sprint(i)}, s)
		n.is(map[bool]string{true: "leading", false: "waiting"}[i == 0])
		nodes[s] = n
	}
	first := nodes[zkLeader].leads()
	zkLeader.Kill()
	nodes[zkLeader].lost(1)
	if token := inTurn(t, nodes[followers[0]], nodes[followers[0]], nodes[followers[1]]); token <= first {
		t.Fatalf("token %d after %d", token, first)
	}
	zkLeader.Restart()
	e.Whole()
	nodes[zkLeader].is("waiting")
}

func TestASessionExpiresAtACutOffFollower(t *testing.T) { repeat.Rounds(t, aSessionExpiresAtAFollower) }

func aSessionExpiresAtAFollower(t *repeat.Round) {
	e := ensemble.Start(t, short)
	zkLeader, followers := e.Whole()
	w := newWitness(t.T)
	a := join(t.T, e, w, incumbent.LatchOptions{ID: "a"}, followers[0])
	a.is("leading")
	b := join(t.T, e, w, incumbent.LatchOptions{ID: "b"}, zkLeader, followers[1])
	b.is("waiting")
	e.Isolate(followers[0])
	a.lost(1)
	inTurn(t, b, b)
	e.Heal()
	e.Whole()
	a.is("waiting")
}

func TestNoQuorumForLongerThanTheSession(t *testing.T) {
	e := ensemble.Start(t, short)
	w := newWitness(t)
	a, b, c := three(t, e, w)
	first := a.leads()
	lost := make(chan struct{})
	watched, _ := client(t, e)
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	ok(t, watched.WaitConnected(ctx))
	watched.OnConnection(func(s incumbent.ConnectionState) {
		if s == incumbent.Lost {
			close(lost)
		}
	})
	e.Servers()[1].Kill()
	e.Servers()[2].Kill()
	a.lost(1)
	select {
	case <-lost: // the session timeout has gone by
	case <-ctx.Done():
		t.Fatal("nobody says LOST")
	}
	e.Servers()[1].Restart()
	e.Servers()[2].Restart()
	e.Whole()
	if token := anyLeads(t, a, b, c); token < first {
		t.Fatalf("token %d after %d", token, first)
	}
}

func TestAnEnsembleIsWipedAndRebuilt(t *testing.T) {
	e := ensemble.Start(t, short)
	a, b, c := three(t, e, newWitness(t))
	a.leads()
	e.Wipe()
	anyLeads(t, a, b, c)
}

func TestAnEnsembleThatWentBackInTimeIsRefused(t *testing.T) {
	e := ensemble.Start(t, short)
	backup := t.TempDir()
	e.Rebuild(func(s *ensemble.Server) error { return s.Keep(backup) })
	for range 2 { // each counts transactions from a new epoch, which the backup does not know of
		e.Rebuild(func(*ensemble.Server) error { return nil })
	}
	w := newWitness(t)
	a := join(t, e, w, incumbent.LatchOptions{ID: "a"})
	floor := a.leads()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	ok(t, a.Close(ctx))

	for tries := 1; ; tries++ {
		e.Rebuild(func(s *ensemble.Server) error { return s.Restore(backup) })
		if refusesBelow(t, e, floor) {
			break
		}
		if tries == 5 {
			t.Fatal("no restored ensemble stayed below the floor")
		}
		t.Log("the restored servers held more elections than those before: they are beyond the floor; once more")
	}
	join(t, e, w, incumbent.LatchOptions{ID: "without a floor"}).leads()
}

// refusesBelow has a latch with a floor join, and reports whether it refused to
// lead. To lead is right only with a token that has reached the floor.
func refusesBelow(t *testing.T, e *ensemble.Ensemble, floor int64) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), enough)
	defer cancel()
	c, log := client(t, e)
	latch, err := c.Latch(line, incumbent.LatchOptions{ID: "with a floor", TokenFloor: floor})
	ok(t, err)
	ok(t, latch.Start())
	held, err := latch.Await(ctx)
	switch {
	case err == nil && held.Token() < floor, err != nil && !errors.Is(err, incumbent.ErrTokenFloor):
		t.Fatalf("Await: %v, want ErrTokenFloor\n%s", err, log.Tail(20))
	case err == nil:
		held.Release()
	}
	ok(t, latch.Close(ctx))
	return err != nil
}

func TestSelectorsRotateThroughARollingRestart(t *testing.T) {
	const clients, each, least = 5, 4, 2
	e := ensemble.Start(t, short)
	w := newWitness(t)
	var mu sync.Mutex
	turns := map[string]int{}
	took := make(chan struct{}, 10_000)
	work := func(name string) incumbent.Work {
		return func(l *incumbent.Leadership) error {
			defer w.see(l)()
			mu.Lock()
			turns[name]++
			mu.Unlock()
			took <- struct{}{}
			shift := time.NewTimer(105 * time.Millisecond) // shorter work is paced
			defer shift.Stop()
			select {
			case <-shift.C:
			case <-l.Context().Done():
			}
			return nil
		}
	}
	var all []*incumbent.Selector
	for i := range clients {
		c, _ := client(t, e)
		for j := range each {
			name := fmt.Sprintf("%d.%d", i, j)
			s, err := c.Selector(line, work(name), incumbent.SelectorOptions{AutoRequeue: true,
				ID: name, Retry: incumbent.RetryForever(50 * time.Millisecond)})
			ok(t, err)
			ok(t, s.Start())
			all = append(all, s)
		}
	}
	// progress waits until everybody has had least more turns than at the last call
	var before map[string]int
	progress := func(when string) {
		t.Helper()
		deadline := time.After(enough)
		for {
			mu.Lock()
			missing := 0
			for _, s := range all {
				if turns[s.ID()]-before[s.ID()] < least {
					missing++
				}
			}
			if missing == 0 {
				before = map[string]int{}
				for name, n := range turns {
					before[name] = n
				}
			}
			mu.Unlock()
			if missing == 0 {
				return
			}
			select {
			case <-took:
			case <-deadline:
				t.Fatalf("%s: %d of %d had no %d turns", when, missing, len(all), least)
			}
		}
	}
	progress("before")
	for _, s := range e.Servers() {
		s.Stop()
		e.Leader()
		s.Restart()
		e.Whole()
		progress("after the restart of " + s.String())
	}
}
