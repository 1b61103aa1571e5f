package engine

import (
	"fmt"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Mutation says what is to be wrong with a chart. It is for harnesses that have
// to show that they find bugs, and for nothing else: see Mutate. Functions are
// meant by the names that the drawings show.
type Mutation struct {
	// Guards take the place of guards. Each sees the model (a pointer) and may
	// ask the guard itself, also about another event.
	Guards map[string]func(model any, ev events.Event, holds func(events.Event) bool) bool
	// Actions take the place of actions, likewise.
	Actions map[string]func(model any, ev events.Event, out *Outbox, do func(events.Event))
	// Detours lead rows elsewhere.
	Detours []Detour
}

// Detour is a row as it is, and where it shall lead.
type Detour struct {
	Row Edge
	To  State
}

// Mutate is a recipe whose chart has been tampered with after MustCompile found
// it in order. The recipe it is made from stays as it was. Logs of the two do not
// replay each other: the digests differ. Mutate panics when the mutation names
// what the chart does not have, so that no planted bug outlives its target.
func Mutate(r Recipe, m Mutation) Recipe { return r.mutate(m) }

func (r recipe[M]) mutate(m Mutation) Recipe {
	changed := *r.Compiled
	changed.digest = "mutated " + r.digest
	changed.arrows = make(map[key][]arrow[M], len(r.arrows))
	used := map[string]bool{}
	for _, s := range r.chart.States {
		for _, kind := range append(slices.Clone(r.chart.Kinds), AtOnce) {
			at := key{s.Name, kind}
			if group := slices.Clone(r.arrows[at]); len(group) > 0 {
				for i := range group {
					mutateArrow(&group[i], at, m, used)
				}
				changed.arrows[at] = group
			}
		}
	}
	m.mustBeUsed(r.Name(), used)
	return recipe[M]{&changed, r.make}
}

func mutateArrow[M any](a *arrow[M], at key, m Mutation, used map[string]bool) {
	if guard, do := m.Guards[a.guard], a.when; guard != nil && do != nil {
		used["guard "+a.guard] = true
		a.when = func(model *M, ev events.Event) bool {
			return guard(model, ev, func(ev events.Event) bool { return do(model, ev) })
		}
	}
	a.acts = slices.Clone(a.acts)
	for i, was := range a.acts {
		if action := m.Actions[was.name]; action != nil {
			used["action "+was.name] = true
			a.acts[i].do = func(model *M, ev events.Event, out *Outbox) {
				action(model, ev, out, func(ev events.Event) { was.do(model, ev, out) })
			}
		}
	}
	row := Edge{at.state, a.name, a.to}
	for _, d := range m.Detours {
		if d.Row == row {
			used[row.String()] = true
			a.to = d.To
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
		panic(fmt.Sprintf("engine: chart %s has no %q to mutate", chart, named))
	}
}

// String is the arrow as golden traces write it.
func (e Edge) String() string { return fmt.Sprintf("%s --%s--> %s", e.From, e.Name, e.To) }
