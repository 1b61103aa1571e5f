package machines

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BenchmarkListing is what the last of 1,000 in line does with a listing: the guards in the table's
// order, then the choice of the predecessor.
func BenchmarkListing(b *testing.B) {
	var children []string
	for i := range 1000 {
		children = append(children, fmt.Sprintf("%s%08x-1111-4222-8333-444444444444-latch-%010d", GUIDPrefix, i, i))
	}
	p := &place{}
	p.lineLabels, p.guid, p.own, p.sequence = []string{"latch-"}, children[999][len(GUIDPrefix):][:guidLength], children[999], 999
	ev := events.Event{Kind: events.ReplyChildren, Code: events.OK, Children: children}
	read := func(out *engine.Outbox) {
		if p.counterEnds(ev) || p.hasDuplicates(ev) || p.missing(ev) || p.mayLead(ev) || p.isFirst(ev) {
			b.Fatal("it is the last of 1,000")
		}
		p.queueUp(ev, out)
	}
	e := engine.New(false, engine.NewRecipe(actorChart, func(events.Event) (*actor, error) { return &actor{read}, nil }))
	e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandOpen, Recipe: "actor"}})
	b.ReportAllocs()
	for b.Loop() {
		e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandStart}})
	}
}

// What maybeEnded says of a name decides whether it is parsed at all.
func TestNamesThatMayHaveEnded(t *testing.T) {
	for _, n := range []int64{0, 7, 999_999_999, 1_000_000_000, lastSequence - 1, lastSequence,
		1<<31 - 1, -1, -999_999_999, -1_000_000_000, -1 << 31} {
		for _, label := range []string{"latch-", "n", KazooLabel} {
			name := fmt.Sprintf("%s%010d", label, n)
			place, ok := ParsePlace(name, label)
			if !ok || place.Sequence != n {
				t.Fatalf("%q is parsed as %v, %v", name, place, ok)
			}
			if place.ended() && !maybeEnded(name) {
				t.Errorf("%q ended, and is taken for one that did not", name)
			}
		}
	}
	if maybeEnded("_c_x-latch-0000000007") {
		t.Error("a name with a small number is parsed for nothing")
	}
}
