package machines

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BenchmarkListing is what the last of 1,000 in line does with a listing: the guards in the table's
// order, then the choice of the predecessor.
func BenchmarkListing(b *testing.B) {
	var children []string
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		h := fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64())
		children = append(children,
			fmt.Sprintf("%s%s-%s-%s-%s-%s-latch-%010d", GUIDPrefix, h[:8], h[8:12], h[12:16], h[16:20], h[20:], i))
	}
	p := &position{label: LatchLabel}
	p.setOwn(children[999])
	p.guid, p.sequence = children[999][len(GUIDPrefix):][:guidLength], 999
	ev := events.Event{Kind: events.ReplyChildren, Code: events.OK, Children: children}
	read := func(out *engine.Outbox) {
		if p.counterEnds(ev) || p.hasDuplicates(ev) || p.missing(ev) || p.mayLead(ev) || p.isFirst(ev) {
			b.Fatal("it is the last of 1,000")
		}
		p.queueUp(ev, out)
	}
	e := engine.New(false, engine.NewRecipe(actorChart, func(events.Event) (*actor, error) {
		return &actor{read}, nil
	}))
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

// A name that is skipped without being parsed must not be that of a place ahead.
func TestNamesThatAreSurelyBehind(t *testing.T) {
	numbers := []int64{0, 6, 7, 8, 999_999_999, 1_000_000_000, lastSequence, 1<<31 - 1, -1, -999_999_999,
		-1_000_000_000, -1 << 31}
	named := func(label string, n int64) string { return fmt.Sprintf("%s%010d", label, n) }
	for _, label := range []string{"latch-", "n", "0", KazooLabel} {
		for _, n := range numbers {
			own := named(label, n)
			p := &position{label: label}
			p.setOwn(own)
			p.sequence = n
			for _, m := range numbers {
				name := "x" + named(label, m)
				if label != KazooLabel {
					name = GUIDPrefix + "00000000-1111-4222-8333-444444444444-" + named(label, m)
				}
				other, ok := ParsePlace(name, label)
				if !ok {
					t.Fatalf("%q is not parsed", name)
				}
				if surelyBehind(name, own) && p.waitsBehind(other) {
					t.Errorf("%q waits behind %q, which is skipped", own, name)
				}
				if 0 <= n && n < m && m < 1_000_000_000 && !surelyBehind(name, own) {
					t.Errorf("%q parses %q for nothing", own, name)
				}
			}
		}
	}
	for _, name := range []string{"", "0", "latch-"} {
		if surelyBehind(name, named("latch-", 7)) || surelyBehind(named("latch-", 7), name) {
			t.Errorf("%q has no number to compare", name)
		}
	}
}
