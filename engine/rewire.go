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
func Rewire(r Recipe, digest string, change func(*Wiring)) Recipe {
	was := r.own()
	changed := *was.compiled
	changed.digest = digest
	changed.arrows = make(map[key][]arrow, len(was.arrows))
	for _, s := range was.chart.states {
		for _, kind := range append(slices.Clone(was.chart.kinds), AtOnce) {
			at := key{s.Name, kind}
			for _, a := range was.arrows[at] {
				w := a.wiring(at.state)
				change(&w)
				changed.arrows[at] = append(changed.arrows[at], a.rewired(w))
			}
		}
	}
	changed.edges = edges(&changed)
	return &recipe{newSteppers(&changed, was.modelType), was.open}
}

func (a arrow) wiring(from State) Wiring {
	w := Wiring{Edge: Edge{from, a.name, a.to}, Guard: a.guard}
	if a.when != nil {
		w.Holds = func(model any, ev events.Event) bool { return a.when(model, &ev) }
	}
	for _, was := range a.acts {
		w.Actions = append(w.Actions, WiredAction{was.name,
			func(model any, ev events.Event, out *Outbox) { was.do(model, &ev, out) }})
	}
	return w
}

func (a arrow) rewired(w Wiring) arrow {
	a.to = w.To
	if w.Holds != nil {
		a.when = func(model any, ev *events.Event) bool { return w.Holds(model, *ev) }
	}
	a.acts = nil
	for _, wired := range w.Actions {
		do := func(model any, ev *events.Event, out *Outbox) { wired.Do(model, *ev, out) }
		a.acts = append(a.acts, act{wired.Name, do})
	}
	return a
}
