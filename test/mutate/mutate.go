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

// Mutation says what is to be wrong with a chart. Functions are meant by the names
// that the drawings show.
type Mutation struct {
	// Guards take the place of guards. Each sees the model (a pointer) and may
	// ask the guard itself, also about another event.
	Guards map[string]func(model any, ev events.Event, holds func(events.Event) bool) bool
	// Actions take the place of actions, likewise.
	Actions map[string]func(model any, ev events.Event, out *engine.Outbox, do func(events.Event))
	// Detours lead rows elsewhere.
	Detours []Detour
}

// Detour is a row as it is, and where it shall lead.
type Detour struct {
	Row engine.Edge
	To  engine.State
}

// Recipe returns a recipe whose chart has been tampered with after MustCompile
// found it in order. The recipe it is made from stays as it was. Logs of the two do
// not replay each other: the digests differ. Recipe panics when the mutation names
// what the chart does not have, so that no planted bug outlives its target.
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

// mustBeUsed panics with everything that a mutation names and a chart has not.
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
