package ensemble_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The tests of this file are those of suite_test.go that are about servers which lose each other, on zkmem's ensemble: it needs no Java,
// and each takes a second or so. Sessions last for ten ticks, and members give each other up after five.
const (
	memTick    = 60 * time.Millisecond
	memTimeout = 10 * memTick
)

// inMemory returns an ensemble of three servers in memory, its leader and its followers.
func inMemory(t *testing.T) (e *zkmem.Ensemble, leader *zkmem.Server, followers []*zkmem.Server) {
	t.Helper()
	e = zkmem.StartEnsemble(t, 3, zkmem.Options{Tick: memTick})
	return e, e.Leader(), e.Followers()
}

// memJoin has a latch join the line from members.
func memJoin(t *testing.T, w *witness, id string, at ...*zkmem.Server) *node {
	t.Helper()
	var addrs []string
	for _, s := range at {
		addrs = append(addrs, s.Addr())
	}
	c, log := recorded(t, incumbent.Config{Servers: strings.Join(addrs, ","), SessionTimeout: memTimeout, Tick: memTick, SyncLimit: 5})
	return joinBy(t, c, log, w, incumbent.LatchOptions{ID: id})
}

// memMode waits until a member has a mode.
func memMode(t *testing.T, s *zkmem.Server, mode string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	ok(t, s.WaitFor(ctx, func(v *zkmem.View) bool { return v.Mode() == mode }))
}

// A latch at a follower that is cut off ends its term before its session can expire. The next one leads when it has.
func TestAFollowerInMemoryIsCutOff(t *testing.T) {
	e, leader, followers := inMemory(t)
	w := newWitness(t)
	a := memJoin(t, w, "a", followers[0])
	first := a.leads()
	b := memJoin(t, w, "b", leader, followers[1])
	b.is("waiting")
	ok(t, e.Isolate(followers[0]))
	a.lost(1)
	if token := b.leads(); token <= first {
		t.Errorf("token %d after %d", token, first)
	}
	memMode(t, followers[0], "")
	e.Heal()
	memMode(t, followers[0], "follower")
	a.is("waiting")
}

// A latch at a leader that is deposed, which still answers, ends its term, too.
func TestALeaderInMemoryIsDeposed(t *testing.T) {
	e, leader, followers := inMemory(t)
	w := newWitness(t)
	a := memJoin(t, w, "a", leader)
	first := a.leads()
	b := memJoin(t, w, "b", followers...)
	b.is("waiting")
	_, next, err := e.Depose()
	ok(t, err)
	if next == leader {
		t.Fatal("it is elected again")
	}
	a.lost(1)
	if token := b.leads(); token <= first {
		t.Errorf("token %d after %d", token, first)
	}
	e.Heal()
	memMode(t, leader, "follower")
	a.is("waiting")
}

// A member that is frozen for longer than the others wait ends the terms at it, although its connections stay.
func TestAMemberInMemoryIsFrozen(t *testing.T) {
	for _, which := range []string{"leader", "follower"} {
		t.Run(which, func(t *testing.T) {
			e, frozen, others := inMemory(t)
			if which == "follower" {
				frozen, others[0] = others[0], frozen
			}
			w := newWitness(t)
			a := memJoin(t, w, "a", frozen)
			first := a.leads()
			b := memJoin(t, w, "b", others...)
			b.is("waiting")
			ok(t, e.Freeze(frozen))
			a.lost(1)
			if token := b.leads(); token <= first {
				t.Errorf("token %d after %d", token, first)
			}
			ok(t, e.Thaw(frozen))
			memMode(t, frozen, "follower")
			a.is("waiting")
		})
	}
}

// Each member in turn is stopped and started again. Sessions go on at other members, and when the first latch is closed, the other
// leads with a higher token.
func TestARollingRestartInMemory(t *testing.T) {
	e, _, _ := inMemory(t)
	w := newWitness(t)
	a := memJoin(t, w, "a", e.Servers()...)
	first := a.leads()
	b := memJoin(t, w, "b", e.Servers()...)
	b.is("waiting")
	for range 2 {
		for _, s := range e.Servers() {
			s.Stop()
			if e.Leader() == nil {
				t.Fatal("two of three servers have no leader")
			}
			ok(t, s.Restart())
			memMode(t, s, "follower")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	ok(t, a.Close(ctx))
	b.is("leading")
	if token := b.leads(); token <= first {
		t.Errorf("token %d after %d", token, first)
	}
}

// Without a quorum nobody believes for longer than the session lasts. With one again, somebody leads.
func TestNoQuorumInMemory(t *testing.T) {
	e, leader, followers := inMemory(t)
	w := newWitness(t)
	a := memJoin(t, w, "a", e.Servers()...)
	first := a.leads()
	b := memJoin(t, w, "b", e.Servers()...)
	b.is("waiting")
	for _, s := range followers {
		ok(t, e.Isolate(s))
	}
	a.lost(1)
	memMode(t, leader, "")
	e.Heal()
	for token := int64(0); token < first; {
		select {
		case token = <-a.led:
		case token = <-b.led:
		case <-time.After(enough):
			t.Fatal("nobody leads")
		}
	}
}
