package engine

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Wiring is one arrow of a compiled chart. Its guard and actions get the model as a
// pointer. Holds is nil if the arrow has no guard.
type Wiring struct {
	Edge
	Guard   string
	Holds   func(model any, ev events.Event) bool
	Actions []WiredAction
}

// WiredAction is one action of an arrow, by the name that the drawings show.
type WiredAction struct {
	Name string
	Do   func(model any, ev events.Event, out *Outbox)
}

// Rewire returns a recipe whose arrows change has altered, after MustCompile accepted
// the chart. The original recipe does not change, nor does the result of Describe. The
// digest distinguishes the logs of the two. Rewire is only for harnesses that plant
// bugs (package test/kit/mutate).
func Rewire(r Recipe, digest string, change func(*Wiring)) Recipe { return r.rewire(digest, change) }

func (r recipe[M]) rewire(digest string, change func(*Wiring)) Recipe {
	changed := *r.Compiled
	changed.digest = digest
	changed.arrows = make(map[key][]arrow[M], len(r.arrows))
	for _, s := range r.chart.States {
		for _, kind := range append(slices.Clone(r.chart.Kinds), AtOnce) {
			at := key{s.Name, kind}
			for _, a := range r.arrows[at] {
				w := a.wiring(at.state)
				change(&w)
				changed.arrows[at] = append(changed.arrows[at], a.rewired(w))
			}
		}
	}
	changed.edges = edges(&changed)
	return recipe[M]{newSteppers(&changed, r.modelType), r.make}
}

func (a arrow[M]) wiring(from State) Wiring {
	w := Wiring{Edge: Edge{from, a.name, a.to}, Guard: a.guard}
	if a.when != nil {
		w.Holds = func(model any, ev events.Event) bool { return a.when(model.(*M), ev) }
	}
	for _, was := range a.acts {
		w.Actions = append(w.Actions, WiredAction{was.name,
			func(model any, ev events.Event, out *Outbox) { was.do(model.(*M), ev, out) }})
	}
	return w
}

func (a arrow[M]) rewired(w Wiring) arrow[M] {
	a.to = w.To
	if w.Holds != nil {
		a.when = func(model *M, ev events.Event) bool { return w.Holds(model, ev) }
	}
	a.acts = nil
	for _, wired := range w.Actions {
		do := func(model *M, ev events.Event, out *Outbox) { wired.Do(model, ev, out) }
		a.acts = append(a.acts, act[M]{wired.Name, do})
	}
	return a
}
