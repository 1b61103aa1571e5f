package machines

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A put has at least one item.
func TestAPutHasAtLeastOneItem(t *testing.T) {
	p := &producer{kind: FIFO}
	for items, want := range map[string]int{"": 1, "1": 1, "2": 2, "0": 0, "-1": 0} {
		given := map[string]string{}
		if items != "" {
			given["items"] = items
		}
		b, err := p.batch(events.Event{Options: given})
		if (err == nil) != (want > 0) || err == nil && b.items != want {
			t.Errorf("a put of %q items: %d, %v", items, b.items, err)
		}
	}
}

// Which of several puts was refused is not known. Of one put it is.
func TestSeveralPutsAreSeparated(t *testing.T) {
	sends := func(n int) bool { return (&producer{sending: make([]batch, n)}).severalSent(events.Event{}) }
	decide(t, []decision{{"one", sends(1), false}, {"two", sends(2), true}, {"three", sends(3), true}})
}

// The pauses of a producer that waits for room begin with the shortest again after a put.
func TestPausesForRoomBeginAgainAfterAPut(t *testing.T) {
	pauses := func(p *producer) (all []events.SetTimer) {
		return found[events.SetTimer](effects(t, func(out *engine.Outbox) { p.waitForRoom(events.Event{}, out) }))
	}
	fresh, used := &producer{}, &producer{}
	for range 5 {
		pauses(used)
	}
	effects(t, func(out *engine.Outbox) { used.succeed(events.Event{}, out) })
	fresh.jitter, used.jitter = (&options{}).jitter("x"), (&options{}).jitter("x")
	if a, b := pauses(fresh), pauses(used); len(a) != 1 || len(b) != 1 || a[0].After != b[0].After || a[0].After == 0 {
		t.Errorf("a pause of %v, and of %v after a put", a, b)
	}
}

// The next item is put aside if itself may not be read, and not if another request was refused or the node is gone.
func TestOnlyARefusedItemIsPutAside(t *testing.T) {
	c := &consumer{heldItem: heldItem{next: &Item{Name: "queue-0000000001"}}}
	c.path = "/q"
	refused := func(code events.Code, path string) bool {
		return c.nextRefused(events.Event{Code: code, Path: path, Attached: true})
	}
	decide(t, []decision{
		{"it may not be read", refused(events.NoAuth, "/q/queue-0000000001"), true},
		{"it is gone", refused(events.NoNode, "/q/queue-0000000001"), false},
		{"another node", refused(events.NoAuth, "/q/queue-0000000002"), false},
		{"it may be read later", refused(events.Throttled, "/q/queue-0000000001"), false},
	})
}

// Dead letters are refused if their directory was.
func TestDeadLettersAreRefusedWithTheirDirectory(t *testing.T) {
	refused := func(tried bool, o outcome) bool {
		c := &consumer{heldItem: heldItem{outcome: o}}
		c.dirsTried, c.dirFailure = tried, failure{code: events.NoAuth, path: "/dead"}
		return c.deadLettersRefused(events.Event{Code: events.NoNode, Attached: true})
	}
	decide(t, []decision{
		{"the directory was refused", refused(true, deadLettered), true},
		{"no directory was created", refused(false, deadLettered), false},
		{"another outcome", refused(true, finished), false},
	})
}

// A sync is sent, and nothing else.
func TestASyncIsSent(t *testing.T) {
	r := &request{ops: []events.Op{{Verb: "sync", Path: "/x"}}}
	mustSend(t, "sync", effects(t, func(out *engine.Outbox) { r.send(events.Event{}, out) }), "sync /x")
}

// A create whose parents vanished again and again says so.
func TestACreateNamesParentsThatVanish(t *testing.T) {
	for rounds, want := range map[int]events.Code{maxShortLived: events.NoNode, maxShortLived + 1: events.ParentGone} {
		r := &request{ops: []events.Op{{Verb: "create", Path: "/d/x"}}, rounds: rounds, command: 4,
			parentMaker: newParentMaker("/d")}
		answers := found[events.Answer](effects(t, func(out *engine.Outbox) {
			r.conclude(events.Event{Kind: events.ReplyCreate, Code: events.NoNode, Path: "/d/x", Request: 1}, out)
		}))
		if len(answers) != 1 || answers[0].Code != want {
			t.Errorf("after %d rounds: %v, want %s", rounds, answers, want)
		}
	}
}

// A consumer with nothing to do wakes up for what comes first: an item that is due, one that is tried again, or the
// next listing.
func TestAConsumerWakesForWhatComesFirst(t *testing.T) {
	const now = int64(time.Hour)
	later := func(seconds int64) []Item { return []Item{{Rank: seconds * 1000}, {Rank: 1e15}} }
	parked := func(in time.Duration) []holding {
		return []holding{{due: now + int64(time.Minute)}, {due: now + int64(in)}}
	}
	timed := func(backlog []Item, parked []holding) consumer {
		return consumer{queueView: queueView{kind: ByDue, backlog: backlog}, parkedItems: parkedItems{parked: parked}}
	}
	twoS, fiveS := parked(2*time.Second), parked(5*time.Second)
	listed := queueView{kind: ByDue, stale: true, listedAt: now, listedCount: 20_000}
	for what, c := range map[string]struct {
		consumer consumer
		want     time.Duration // 0: it does not wake up by itself
	}{
		"nothing":                        {timed(nil, nil), 0},
		"an item":                        {timed(later(3), nil), 3 * time.Second},
		"an item that is overdue":        {timed(later(-3), nil), time.Millisecond},
		"an item in years":               {timed(later(1e9), nil), maxTimer},
		"an item without a time":         {consumer{queueView: queueView{backlog: later(3)}}, 0},
		"no item, one to be tried again": {timed(nil, twoS), 2 * time.Second},
		"one to be tried again first":    {timed(later(3), twoS), 2 * time.Second},
		"one to be tried again later":    {timed(later(3), fiveS), 3 * time.Second},
		"no room for another":            {timed(later(3), slices.Repeat(fiveS, maxParked/2)), 5 * time.Second},
		"a listing":                      {consumer{queueView: listed}, 20_000 * listingCostPerName},
	} {
		it := c.consumer
		it.clock.heard = now
		timers := found[events.SetTimer](effects(t, func(out *engine.Outbox) {
			it.waitForNext(events.Event{At: now}, out)
		}))
		timers = slices.DeleteFunc(timers, func(t events.SetTimer) bool { return t.Name == recheckTimer })
		if len(timers) > 1 || len(timers) == 0 != (c.want == 0) || c.want != 0 && timers[0].After != c.want {
			t.Errorf("%s: %+v, want %s", what, timers, c.want)
		}
	}
}
