// Package mutate plants bugs in charts, for harnesses that have to show that they
// find them. Nothing that a program embeds imports it.
package mutate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Mutation is a set of bugs to plant in a chart. Functions have the names that the
// drawings show.
type Mutation struct {
	// Guards replace guards. Each gets the model (a pointer), and may call the
	// original guard, also with another event.
	Guards map[string]func(model any, ev events.Event, holds func(events.Event) bool) bool
	// Actions replace actions in the same way.
	Actions map[string]func(model any, ev events.Event, out *engine.Outbox, do func(events.Event))
	// Detours change the targets of rows.
	Detours []Detour
}

// Detour is an arrow, and its new target.
type Detour struct {
	Row engine.Edge
	To  engine.State
}

// Recipe returns a recipe whose chart was changed after MustCompile accepted it. The
// original recipe stays as it is. A log of one does not replay with the other, because
// their digests differ. Recipe panics if the mutation has a name that the chart does not
// have, so that no planted bug outlives its target.
func Recipe(r engine.Recipe, m Mutation) engine.Recipe {
	used := map[string]bool{}
	wrong := engine.Rewire(r, "mutated "+r.Digest(), func(w *engine.Wiring) { m.change(w, used) })
	m.mustBeUsed(r.Name(), used)
	return wrong
}

func (m Mutation) change(w *engine.Wiring, used map[string]bool) {
	if guard, holds := m.Guards[w.Guard], w.Holds; guard != nil && holds != nil {
		used["guard "+w.Guard] = true
		w.Holds = func(model any, ev events.Event) bool {
			return guard(model, ev, func(ev events.Event) bool { return holds(model, ev) })
		}
	}
	for i, was := range w.Actions {
		if action := m.Actions[was.Name]; action != nil {
			used["action "+was.Name] = true
			w.Actions[i].Do = func(model any, ev events.Event, out *engine.Outbox) {
				action(model, ev, out, func(ev events.Event) { was.Do(model, ev, out) })
			}
		}
	}
	row := w.Edge
	for _, d := range m.Detours {
		if d.Row == row {
			used[row.String()] = true
			w.To = d.To
		}
	}
}

// mustBeUsed panics with the names of a mutation that the chart does not have.
func (m Mutation) mustBeUsed(chart string, used map[string]bool) {
	var named []string
	for _, name := range slices.Sorted(maps.Keys(m.Guards)) {
		named = append(named, "guard "+name)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Actions)) {
		named = append(named, "action "+name)
	}
	for _, d := range m.Detours {
		named = append(named, d.Row.String())
	}
	named = slices.DeleteFunc(named, func(n string) bool { return used[n] })
	if len(named) > 0 {
		slices.Sort(named)
		panic(fmt.Sprintf("mutate: chart %s has no %q to mutate", chart, named))
	}
}
