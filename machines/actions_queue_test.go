package machines

import (
	"testing"

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
	c := &consumer{next: &Item{Name: "queue-0000000001"}}
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
		c := &consumer{outcome: o}
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
		r := &request{ops: []events.Op{{Verb: "create", Path: "/d/x"}}, rounds: rounds, command: 4, parentMaker: newParentMaker("/d")}
		answers := found[events.Answer](effects(t, func(out *engine.Outbox) {
			r.conclude(events.Event{Kind: events.ReplyCreate, Code: events.NoNode, Path: "/d/x", Request: 1}, out)
		}))
		if len(answers) != 1 || answers[0].Code != want {
			t.Errorf("after %d rounds: %v, want %s", rounds, answers, want)
		}
	}
}
