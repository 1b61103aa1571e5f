package machines

import (
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A member that leaves lists the others, reads a ready node that it does not know before, and asks the quorum once.
func TestAMemberReadsAReadyNodeThatItDoesNotKnow(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.begun = true
	mustSend(t, "the ready node is known", effects(t, func(out *engine.Outbox) { b.list(events.Event{}, out) }),
		"children /b")
	relooked := effects(t, func(out *engine.Outbox) { b.relook(events.Event{}, out) })
	mustSend(t, "the ready node was replaced", relooked, "exists /b/ready", "children /b")
	mustSend(t, "it is listed again", effects(t, func(out *engine.Outbox) { b.list(events.Event{}, out) }),
		"exists /b/ready", "children /b")
}

// An own node is deleted on a connection, and behind the answer to its create.
func TestAMemberDeletesItsNodeWhenItCan(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.own = "me"
	del := func(attached bool, creating uint64) []events.Effect {
		b.creating = creating
		return effects(t, func(out *engine.Outbox) { b.deleteOwn(events.Event{Attached: attached}, out) })
	}
	mustSend(t, "connected", del(true, 0), "delete /b/me")
	mustSend(t, "no connection", del(false, 0))
	mustSend(t, "a create is pending", del(true, 4))
}

// An own node is this session's if an answer about it says so.
func TestWhoseTheNodeOfAMemberIs(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.own, b.owner = "me", 7
	mine := &events.Stat{EphemeralOwner: 7}
	ours := func(path string, code events.Code, stat *events.Stat) bool {
		return b.ours(events.Event{Path: path, Code: code, Stat: stat})
	}
	decide(t, []decision{
		{"this session's", ours("/b/me", events.OK, mine), true},
		{"another session's", ours("/b/me", events.OK, &events.Stat{EphemeralOwner: 8}), false},
		{"nothing is said of it", ours("/b/me", events.OK, nil), false},
		{"no answer", ours("/b/me", events.ConnectionLoss, mine), false},
		{"another node", ours("/b/ready", events.OK, mine), false},
	})
}

// The parents of a new node may be missing once more, although they were created for the one before.
func TestANewMemberMayCreateParents(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.round = &parentRound{tried: true}
	effects(t, func(out *engine.Outbox) { b.create(events.Event{}, out) })
	if !b.parentMissing(events.Event{Code: events.NoNode}) {
		t.Error("a missing parent is not created")
	}
}

// A member that is waited for is there if a reply shows it, and is not of the next round.
func TestAMemberIsStillThere(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.others, b.listedZxid = []string{"other"}, 10
	there := func(path string, stat *events.Stat) bool {
		return b.stillThere(events.Event{Code: events.OK, Path: path, Stat: stat})
	}
	decide(t, []decision{
		{"it was there when the members were listed", there("/b/other", owned(3, 10)), true},
		{"it came later", there("/b/other", owned(3, 11)), false},
		{"another node", there("/b/ready", owned(3, 10)), false},
		{"nothing is said of it", there("/b/other", nil), false},
	})
}

// A job election that closes has to clean up a marker that may exist, and a latch that is open.
func TestAJobElectionKnowsWhatItLeaves(t *testing.T) {
	none, marker, latch := &jobElection{}, &jobElection{}, &jobElection{}
	marker.unknown, latch.openLatches = true, 1
	decide(t, []decision{
		{"neither", none.hasMarkerOrLatch(events.Event{}), false},
		{"a marker that may exist", marker.hasMarkerOrLatch(events.Event{}), true},
		{"a latch", latch.hasMarkerOrLatch(events.Event{}), true},
	})
}

// A job election that follows another instance waits for nothing that it asked for before.
func TestAJobElectionThatFollowsWaitsForNothing(t *testing.T) {
	c := &jobElection{}
	all := effects(t, func(out *engine.Outbox) {
		out.Timer(confirmTimer, 1)
		c.settle(out)
	})
	mustSend(t, "a timer was set", all, "stop")
}

// The line of locks is occupied by a lock, and by nothing else.
func TestALineOfLocksIsOccupiedByALock(t *testing.T) {
	s := &semaphore{}
	decide(t, []decision{
		{"nobody", s.lineOccupied(events.Event{}), false},
		{"another node", s.lineOccupied(events.Event{Children: []string{"note"}}), false},
		{"a lock", s.lineOccupied(events.Event{Children: []string{"note", "lock-0000000001"}}), true},
	})
}

// Permits that are not watched are checked, and a single permit is watched.
func TestPermitsThatAreNotWatchedAreChecked(t *testing.T) {
	s := &semaphore{period: 1}
	timers := func() int {
		return len(found[events.SetTimer](effects(t, func(out *engine.Outbox) {
			s.schedulePermitCheck(events.Event{}, out)
		})))
	}
	if n := timers(); n != 0 {
		t.Errorf("%d timers for one permit", n)
	}
	s.setGuards([]events.Op{events.Check("/s/a"), events.Check("/s/b")})
	if n := timers(); n != 1 {
		t.Errorf("%d timers for two permits, want 1", n)
	}
}

// A member that waits for the others is woken by a ready node, and by the end of its own.
func TestAMemberThatWaitsWatchesTwoNodes(t *testing.T) {
	b := &doubleBarrier{}
	b.parentMaker = newParentMaker("/b")
	b.own = "me"
	all := found[events.Exists](effects(t, func(out *engine.Outbox) { b.askReady(events.Event{}, out) }))
	if len(all) != 2 || all[0].Path != "/b/me" || all[1].Path != "/b/ready" || !all[0].Watch || !all[1].Watch {
		t.Errorf("it asks %+v", all)
	}
}

// While permits cannot be taken, the latch that is held again ends no failure but its own: else nobody would ever give
// up.
func TestTheLatchEndsItsOwnFailure(t *testing.T) {
	for latchFailed, want := range map[bool]int32{true: 0, false: 2} {
		s := &semaphore{}
		s.failing, s.latchFailed = &failureSeries{failures: 2, code: events.NoAuth}, latchFailed
		effects(t, func(out *engine.Outbox) { s.readPool(events.Event{Kind: events.LatchHeld}, out) })
		if got := s.series().failures; got != want {
			t.Errorf("the latch's failure %t: %d failures count, want %d", latchFailed, got, want)
		}
	}
}

// A node that was created by the multi that also writes it has the version 1, which the checks of the term name.
func TestTheVersionOfAMadeNode(t *testing.T) {
	e := &nodeElection{}
	e.marker = "/l/leader"
	effects(t, func(out *engine.Outbox) { e.noteResult(events.Event{Code: events.OK, Zxid: 7}, out) })
	if checks := e.termChecks(); len(checks) != 1 || checks[0].Path != "/l/leader" || checks[0].Version != 1 {
		t.Errorf("the term checks %+v", checks)
	}
}
