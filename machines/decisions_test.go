package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// decision is a guard's answer in one situation.
type decision struct {
	what      string
	got, want bool
}

func decide(t *testing.T, all []decision) {
	t.Helper()
	for _, d := range all {
		if d.got != d.want {
			t.Errorf("%s: %t, want %t", d.what, d.got, d.want)
		}
	}
}

// at is an event while a session is attached and a confirmation counts.
func at(ev events.Event) events.Event {
	ev.Attached, ev.At, ev.ValidUntil = true, 100, 200
	return ev
}

func owned(owner, czxid int64) *events.Stat {
	return &events.Stat{EphemeralOwner: owner, Czxid: czxid}
}

// An outcome is pending as long as something is left to be written, and the dead letters' directory is asked for only
// when an item goes there.
func TestAConsumerKnowsWhatIsLeftToWrite(t *testing.T) {
	in := func(o outcome, held *holding) *consumer {
		return &consumer{heldItem: heldItem{outcome: o, held: held}}
	}
	closing := in(timed, nil)
	closing.closing = []uint64{1}
	failing := in(failed, nil)
	failing.closing = []uint64{1}
	next := in(noOutcome, nil)
	next.next = &Item{}
	item := &holding{Item: Item{Name: "queue-0000000001"}}
	missing := func(c *consumer) bool {
		c.path = "/q"
		return c.anyDirMissing(events.Event{Code: events.NoNode, Path: "/q"})
	}
	decide(t, []decision{
		{"nothing to write", in(noOutcome, nil).outcomePending(events.Event{}), false},
		{"the time is asked for", in(timed, nil).outcomePending(events.Event{}), true},
		{"the time is asked for while it closes", closing.outcomePending(events.Event{}), false},
		{"a failed try while it closes", failing.outcomePending(events.Event{}), true},
		{"a next item", next.outcomePending(events.Event{}), true},
		{"no item is held", missing(in(noOutcome, nil)), true},
		{"an item becomes a dead letter", missing(in(deadLettered, item)), true},
		{"an item was done", missing(in(finished, item)), false},
	})
}

// deferredCount counts items whose outcome was refused, and no others.
func TestAConsumerCountsWhatWasRefused(t *testing.T) {
	refused, fine := holding{refusals: 1}, holding{due: 5}
	for _, c := range []struct {
		held   *holding
		parked []holding
		want   int
	}{
		{nil, nil, 0},
		{&fine, []holding{fine, fine}, 0},
		{&refused, []holding{fine}, 1},
		{&fine, []holding{refused, fine, refused}, 2},
	} {
		has := consumer{heldItem: heldItem{held: c.held}, parkedItems: parkedItems{parked: c.parked}}
		if got := has.deferredCount(); got != c.want {
			t.Errorf("%d items are deferred, want %d", got, c.want)
		}
	}
	c := parkedItems{parked: []holding{{due: 3}, {due: 1}, {due: 2}}}
	if i := c.earliest(); i != 1 {
		t.Errorf("the item %d is due first, want the second", i)
	} else if h := c.unparkAt(i); h.due != 1 || len(c.parked) != 2 || c.parked[0].due != 3 || c.parked[1].due != 2 {
		t.Errorf("%v is taken, and %v stays", h, c.parked)
	}
}

// A check counts only for the first in line, whose own node was verified, and while a confirmation counts.
func TestAContenderLeadsOnlyWhenConfirmed(t *testing.T) {
	verified := func(first bool) *contender {
		p := &contender{}
		p.first, p.owned, p.watched, p.timeout = first, true, true, 15*time.Second
		return p
	}
	asks := func(since, now int64) events.Event { return events.Event{Code: events.OK, AskAt: 7, At: now} }
	waits := func(since int64) *contender { p := verified(true); p.askedSince = since; return p }
	decide(t, []decision{
		{"confirmed", verified(true).nowConfirmed(at(events.Event{Code: events.OK})), true},
		{"the check failed", verified(true).nowConfirmed(at(events.Event{Code: events.NoNode})), false},
		{"not first", verified(false).nowConfirmed(at(events.Event{Code: events.OK})), false},
		{"settling, asked for the first time", waits(0).inconclusive(asks(0, int64(time.Hour))), true},
		{"settling for less than a session timeout", waits(1).inconclusive(asks(1, int64(14*time.Second))), true},
		{"settling for a session timeout", waits(1).inconclusive(asks(1, int64(16*time.Second))), false},
		{"a function follows a term that queues again", (&agenda{after: requeue}).callsFunction(), true},
		{"a function follows a term that stays out", (&agenda{after: stayOut}).callsFunction(), true},
		{"no function while the place is kept", (&agenda{after: keepPlace}).callsFunction(), false},
	})
}

// A machine distinguishes what it may have made from what it did not make.
func TestAPersistentNodeIsKnownByItsSessionAndZxid(t *testing.T) {
	p := func(made, other int64, unknown bool) *persistent {
		p := &persistent{}
		p.owner, p.made, p.otherNode, p.unknown = 3, made, other, unknown
		return p
	}
	seen := func(owner, czxid int64) events.Event { return events.Event{Code: events.OK, Stat: owned(owner, czxid)} }
	stale := p(0, 0, true)
	stale.asked, stale.written, stale.payload = 2, 1, 2
	older := p(5, 0, false)
	older.asked, older.written, older.payload = 2, 1, 2
	decide(t, []decision{
		{"what it made", p(5, 0, false).ours(seen(3, 5)), true},
		{"another node of the same session", p(5, 0, false).ours(seen(3, 6)), false},
		{"a create without a reply", p(0, 4, true).ours(seen(3, 6)), true},
		{"what was there before that create", p(0, 4, true).ours(seen(3, 4)), false},
		{"another session's", p(0, 4, true).ours(seen(9, 6)), false},
		{"a create without a reply has the last data", stale.oursStale(seen(3, 6)), false},
		{"the node has older data", older.oursStale(seen(3, 5)), true},
	})
}

// A failure passes by itself, or the request never left.
func TestWhatIsTriedAgain(t *testing.T) {
	s := &standalone{}
	decide(t, []decision{
		{"throttled", s.transient(events.Event{Code: events.Throttled, Attached: true}), true},
		{"not sent, and no connection", s.transient(events.Event{Code: events.NotSent}), true},
		{"not sent on a connection", s.transient(events.Event{Code: events.NotSent, Attached: true}), false},
		{"refused, and then no connection", s.transient(events.Event{Code: events.NoAuth}), false},
	})
	never := newRetryState(events.Event{Seed: "x"}, &options{}, new(Once(time.Second)))
	for failed := range int32(5) {
		never.noteWork(failed, 0)
		if d := never.workBackOff(); d <= 0 {
			t.Errorf("no pause after work that failed for the %d. time", failed+1)
		}
	}
	fixed := newRetryState(events.Event{Seed: "x"}, &options{}, new(NTimes(9, 7*time.Second)))
	if d := fixed.workBackOff(); d != 7*time.Second {
		t.Errorf("a pause of %s, and the policy says 7s", d)
	}
	if policy := Once(time.Second); policy != NTimes(1, time.Second) {
		t.Errorf("once is %v", policy)
	}
}

// Nodes and machines of a double barrier.
func TestADoubleBarrierKnowsItsNodes(t *testing.T) {
	b := func(own, watched string) *doubleBarrier {
		b := &doubleBarrier{}
		b.dir, b.own, b.watched = "/b", own, watched != ""
		return b
	}
	ready := b("", "").readyPath()
	queue := b("me", "")
	queue.others = []string{"first", "second"}
	decide(t, []decision{
		{"ready appears, and is watched", b("me", "w").readyAppeared(events.Event{Path: ready}), true},
		{"ready appears before it is watched", b("me", "").readyAppeared(events.Event{Path: ready}), false},
		{"another node appears", b("me", "w").readyAppeared(events.Event{Path: "/b/other"}), false},
		{"its own", b("me", "").isOwn(events.Event{Path: "/b/me"}), true},
		{"no own node", b("", "").isOwn(events.Event{Path: b("", "").ownPath()}), false},
		{"watches the directory", b("", "").Watches("/b"), true},
		{"watches the first of the others", queue.Watches("/b/first"), true},
		{"not the second", queue.Watches("/b/second"), false},
		{"nobody else", b("me", "").Watches("/b/first"), false},
	})
}

// Names that have to be distinguished exactly.
func TestNamesAreTakenApartExactly(t *testing.T) {
	for s, want := range map[string]bool{"0000000001": true, "000000001": false, "00000000001": false,
		"-2147483648": true, "-000000001": true, "-00000001": false, "+000000001": false} {
		if _, ok := parseSequence(s); ok != want {
			t.Errorf("parseSequence(%q) = %t", s, ok)
		}
	}
	for s, want := range map[string]bool{
		"01234567-89ab-cdef-0123-456789ABCDEF": true, "01234567089ab-cdef-0123-456789abcdef": false,
		"01234567-89ab0cdef-0123-456789abcdef": false, "01234567-89ab-cdef00123-456789abcdef": false,
		"01234567-89ab-cdef-01230456789abcdef": false, "0123-567-89ab-cdef-0123-456789abcdef": false,
	} {
		if isGUID(s) != want {
			t.Errorf("isGUID(%q) = %t", s, !want)
		}
	}
	for path, want := range map[string]string{"/a": "/", "/a/b": "/a", "/": "/", "/a0/b": "/a0"} {
		if got := parent(path); got != want {
			t.Errorf("parent(%q) = %q", path, got)
		}
	}
	decide(t, []decision{
		{"kazoo's label", isKazoo(KazooLabel), true},
		{"kazoo's label of readers", isKazoo(KazooReadLabel), true},
		{"Curator's label", isKazoo("lock-"), false},
	})
}

// Each end of a term has its reason.
func TestEveryEndHasItsReason(t *testing.T) {
	for kind, want := range map[events.Kind]events.Reason{
		events.WatchDeleted: events.ReasonDeleted, events.ReplyStat: events.ReasonNodeGone,
		events.WatchChanged: events.ReasonNodeChanged, events.ConnectionSuspended: events.ReasonSuspended,
		events.ConnectionLost: events.ReasonSessionOver, events.ConnectionUnconfirmed: events.ReasonUnconfirmed,
		events.CommandResign: events.ReasonResigned, events.CommandClose: events.ReasonClosed,
		events.WorkReturned: events.ReasonReturned, events.HealthChecked: events.ReasonUnhealthy,
	} {
		if got := reason(events.Event{Kind: kind}); got != want {
			t.Errorf("a term that %s ends has the reason %q, want %q", kind, got, want)
		}
	}
	for code, want := range map[events.Code]events.Reason{
		events.Unhealthy: events.ReasonUnhealthy, events.JobDisabled: events.ReasonDisabled,
		events.JobConfig: events.ReasonCannotDeal, events.JobStrategy: events.ReasonCannotDeal,
	} {
		if got := reason(events.Event{Kind: events.HealthChecked, Code: code}); got != want {
			t.Errorf("a term that a check with the code %s ends has the reason %q, want %q", code, got, want)
		}
	}
	for _, kind := range []events.Kind{events.ConnectionSuspended, events.ConnectionUnconfirmed} {
		if got := reason(events.Event{Kind: kind, Paused: 1}); got != events.ReasonOwnPause {
			t.Errorf("%s after a pause of the process: %q", kind, got)
		}
	}
}
