package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A place queues again after the end of its session, whatever it was about to do: only a close and an exit from the
// line remain.
func TestTheEndOfASessionEndsABackOff(t *testing.T) {
	for before, want := range map[intent]intent{requeue: keepPlace, backOff: keepPlace, stayOut: stayOut,
		closeNext: closeNext} {
		p := &contender{}
		p.nextIntent = before
		effects(t, func(out *engine.Outbox) { p.lose(events.Event{}, out) })
		if p.nextIntent != want {
			t.Errorf("the intent %d became %d, want %d", before, p.nextIntent, want)
		}
	}
}

// A refused place is given up only after a pause that lasted: another event says nothing about the last attempt.
func TestARefusedPlaceIsGivenUpAfterAPause(t *testing.T) {
	p := &contender{}
	p.failing = &failureSeries{code: events.NoAuth, refusedSince: 1}
	p.timeout, p.ownPath = time.Second, "/l/n"
	at := func(kind events.Kind, after time.Duration) bool {
		return p.unusable(events.Event{Kind: kind, At: 1 + int64(after)})
	}
	decide(t, []decision{
		{"the pause is over", at(events.TimerFired, time.Second), true},
		{"a new connection", at(events.ConnectionAttached, time.Second), false},
		{"refused for less than a session timeout", at(events.TimerFired, time.Second-1), false},
	})
}

// A machine whose node is deleted again and again reports it, once for each pause that follows.
func TestANodeDeletedAgainIsReported(t *testing.T) {
	p := &contender{}
	p.timeout = time.Minute
	for n, want := range []int{0, 0, 1, 0} {
		notices := found[events.Notify](effects(t, func(out *engine.Outbox) { p.paceIn("/l", events.Event{}, out) }))
		if len(notices) != want || want == 1 && (notices[0].Code != events.DeletedAgain || notices[0].Text != "/l") {
			t.Errorf("the %d. deletion is reported by %v", n+1, notices)
		}
	}
}

// A place that a listing shows replaces what was known of the own node.
func TestTheLowestNodeIsAdopted(t *testing.T) {
	p := newPlace(events.Event{Path: "/l", Seed: "x"}, &options{}, LatchLabel)
	p.guid = guid("x", 1)
	prefix := ownPrefix(p.guid, LatchLabel)
	p.setOwn(prefix + "0000000009")
	p.token, p.owned, p.watched = 9, true, true
	all := effects(t, func(out *engine.Outbox) {
		p.adopt(events.Event{Code: events.OK, Children: []string{prefix + "0000000009", prefix + "0000000004"}}, out)
	})
	if p.own() != prefix+"0000000004" || p.sequence != 4 || p.token != 0 || p.owned || p.watched {
		t.Errorf("it has %s, number %d, token %d", p.own(), p.sequence, p.token)
	}
	if deleted := found[events.Delete](all); len(deleted) != 1 || deleted[0].Path != "/l/"+prefix+"0000000009" {
		t.Errorf("it deletes %v", deleted)
	}
}

// A connection that ends a pause may be another session's.
func TestAPlaceThatIsWokenKnowsItsSession(t *testing.T) {
	p := newPlace(events.Event{Path: "/l"}, &options{}, LatchLabel)
	p.owner, p.round = 3, &parentRound{tried: true}
	effects(t, func(out *engine.Outbox) { p.wake(events.Event{Kind: events.ConfirmationCounts, SessionID: 5}, out) })
	if p.owner != 3 || !p.last().tried {
		t.Error("a confirmation changes the session")
	}
	effects(t, func(out *engine.Outbox) { p.wake(events.Event{Kind: events.ConnectionAttached, SessionID: 5}, out) })
	if p.owner != 5 || p.last().tried {
		t.Errorf("the session is %d, want 5, and parents may be created once more", p.owner)
	}
}

// A selector that queues again does so in the session of the command.
func TestARequeueBelongsToItsSession(t *testing.T) {
	p := &selector{}
	p.owner = 3
	answers := found[events.Answer](effects(t, func(out *engine.Outbox) {
		p.noteRequeue(events.Event{Request: 4, SessionID: 5}, out)
	}))
	if p.owner != 5 || len(answers) != 1 || answers[0].Code != events.OK {
		t.Errorf("the session is %d, want 5, and the answer %v", p.owner, answers)
	}
}

// Only a node that the own session owns may be the own one.
func TestAnElectionNotesItsOwnNodes(t *testing.T) {
	p := &election{place{position: position{label: "n_"}, ownerSearch: &ownerSearch{}}}
	p.owner, p.asked = 3, 2
	note := func(owner int64, path string) {
		p.noteOwner(events.Event{Code: events.OK, Path: path, Stat: owned(owner, 1)}, nil)
	}
	note(9, "/e/n_0000000001")
	note(3, "/e/n_0000000002")
	if p.asked != 0 || len(p.ownPlaces) != 1 || p.ownPlaces[0].Sequence != 2 {
		t.Errorf("%d answers are missing, and its own are %v", p.asked, p.ownPlaces)
	}
}

// A hold that could not be downgraded ends, and does not queue again.
func TestAFailedDowngradeEndsTheHold(t *testing.T) {
	p := &readWrite{}
	p.addCommand(4, leadership)
	answers := found[events.Answer](effects(t, func(out *engine.Outbox) {
		p.giveUpDowngrade(events.Event{Kind: events.ReplyMulti, Code: events.NoNode}, out)
	}))
	if p.nextIntent != closeNext || len(answers) != 1 || answers[0].Code != events.LeadershipLost {
		t.Errorf("the intent is %d, and the answer %v", p.nextIntent, answers)
	}
}
