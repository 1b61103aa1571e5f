package engine_test

import (
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

// looplab lets a duplicate row win silently and accepts misspelt states: what it
// holds in the end has to be what is drawn and tabled, no more and no less.
func TestLooplabHoldsTheDrawnEdges(t *testing.T) {
	for _, r := range machines.Recipes() {
		held := map[engine.Edge]bool{}
		for _, e := range r.(interface{ Looplab() []engine.Edge }).Looplab() {
			held[e] = true
		}
		drawn := r.Describe().Edges()
		for _, e := range drawn {
			if !held[e] {
				t.Errorf("%s: looplab lacks %s --%s--> %s", r.Name(), e.From, e.Name, e.To)
			}
			delete(held, e)
		}
		for e := range held {
			t.Errorf("%s: looplab has %s --%s--> %s, which no row draws", r.Name(), e.From, e.Name, e.To)
		}
		if len(drawn) == 0 {
			t.Errorf("%s: nothing was compared", r.Name())
		}
	}
}
