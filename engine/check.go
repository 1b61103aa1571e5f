package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// checker collects everything that is wrong with a chart, so that one run of
// the program reports all of it.
type checker[M any] struct {
	*Compiled[M]
	listed   map[State]bool
	declared map[events.Kind]bool
	problems []string
}

func (k *checker[M]) complain(format string, args ...any) {
	k.problems = append(k.problems, fmt.Sprintf(format, args...))
}

func (k *checker[M]) states() {
	if len(k.chart.States) == 0 {
		k.complain("no states: list them, the first is where a machine begins")
	}
	for _, s := range k.chart.States {
		if k.listed[s.Name] {
			k.complain("state %s is listed twice", s.Name)
		}
		k.listed[s.Name] = true
	}
	for _, c := range k.chart.Composites {
		for _, s := range c.States {
			k.known(s, "composite "+c.Name)
		}
	}
	for _, s := range k.chart.Happy {
		k.known(s, "the happy path")
	}
	if k.chart.Final != "" {
		k.known(k.chart.Final, "Final")
	}
}

func (k *checker[M]) kinds() {
	k.declared = map[events.Kind]bool{}
	for _, kind := range k.chart.Kinds {
		switch {
		case kind == AtOnce:
			k.complain("Kinds declares AtOnce, which is no event: leave it out, rows alone make a choice")
		case !slices.Contains(events.Kinds(), kind):
			k.complain("kind %s is not one of events.Kinds", kind)
		}
		if k.declared[kind] {
			k.complain("kind %s is declared twice", kind)
		}
		k.declared[kind] = true
	}
}

func (k *checker[M]) known(s State, where any) {
	if !k.listed[s] {
		k.complain("%s names state %q, which States does not list", where, s)
	}
}

func (k *checker[M]) rows() {
	for i, r := range k.chart.Rows {
		var where any = rowName[M]{k, i} // a text only if there is something to complain of: programs compile charts when they start
		k.trigger(r.On, where)
		if len(r.From) == 0 {
			k.complain("%s: starts nowhere", where)
		}
		if r.To != Stay {
			k.known(r.To, where)
		}
		a := arrow[M]{row: i, when: r.When, to: r.To}
		if r.When != nil {
			a.guard = k.nameOf(r.symbols().when, where, "guard")
		}
		for _, do := range r.steps() {
			a.acts = append(a.acts, act[M]{k.nameOf(do.symbol, where, "action"), do.do})
		}
		if r.Do == nil && r.Then != nil {
			k.complain("%s: Then follows nothing: write it as Do", where)
		}
		for _, from := range r.From {
			k.known(from, where)
			if from == k.chart.Final {
				k.complain("%s: leaves the final state %s, where a machine is already forgotten", where, from)
			}
			k.arrow(a, from, r.On)
		}
	}
}

// trigger checks the kinds on which a row is taken.
func (k *checker[M]) trigger(on Trigger, where any) {
	if len(on.kinds) == 0 {
		k.complain("%s: has no On: name the kinds that it is about, or AtOnce", where)
	}
	for i, kind := range on.kinds {
		switch {
		case slices.Contains(on.kinds[:i], kind):
			k.complain("%s: names %s twice", where, kind)
		case kind == AtOnce && len(on.kinds) > 1:
			k.complain("%s: is AtOnce, and about events: a choice gets no event", where)
		case kind != AtOnce && !k.declared[kind]:
			k.complain("%s: kind %s is not declared in Kinds", where, kind)
		}
	}
}

// arrow adds a row's arrows in one state, one for each kind.
func (k *checker[M]) arrow(a arrow[M], from State, on Trigger) {
	if a.to == Stay {
		a.to = from
	}
	for _, kind := range on.kinds {
		a.name = label(kind, a.guard)
		k.arrows[key{from, kind}] = append(k.arrows[key{from, kind}], a)
	}
}

// nameOf returns a function's name, and complains about a function without one.
func (k *checker[M]) nameOf(s symbol, where any, what string) string {
	switch {
	case strings.Contains(s.name, "[...]"):
		k.complain("%s: %s %s (%s) has a generic receiver: its name cannot be drawn", where, what, s.name, s.place())
	case strings.Contains(s.name, ".func"), strings.HasSuffix(s.name, "-fm"):
		k.complain("%s: %s %s (%s) is a closure or bound method: use a method expression such as (*latch).first", where, what, s.name, s.place())
	}
	return s.last()
}

func (k *checker[M]) ignores() {
	for _, ig := range k.chart.Ignores {
		if ig.Why == "" {
			k.complain("an Ignore of %v does not say why", ig.On)
		}
		for _, kind := range ig.On {
			if !k.declared[kind] {
				k.complain("an Ignore names kind %s, which Kinds does not declare", kind)
			}
		}
		for _, s := range ig.In {
			k.known(s, "an Ignore")
			for _, kind := range ig.On {
				if commands(kind) {
					k.complain("%s in %s is ignored: the caller waits for an answer", kind, s)
				}
				if _, twice := k.ignored[key{s, kind}]; twice {
					k.complain("%s in %s is ignored twice", kind, s)
				}
				if group := k.arrows[key{s, kind}]; len(group) > 0 {
					k.complain("%s in %s is ignored, but a row decides it: %s", kind, s, k.row(group[0].row))
				}
				k.ignored[key{s, kind}] = ig.Why
			}
		}
	}
}

func (k *checker[M]) groups() {
	k.eachPair(func(s State, kind events.Kind) {
		group := k.arrows[key{s, kind}]
		for i, a := range group {
			if before := slices.IndexFunc(group, func(b arrow[M]) bool { return b.guard == a.guard }); before < i {
				k.complain("%s in %s: two rows with guard [%s]: %s, %s", kind, s, a.guard, k.row(group[before].row), k.row(a.row))
			}
			if a.guard == "" && i < len(group)-1 {
				k.complain("%s in %s: a row stands after the one without a guard: %s after %s", kind, s, k.row(group[i+1].row), k.row(a.row))
			}
		}
		if len(group) == 0 || group[len(group)-1].guard == "" {
			return
		}
		last := group[len(group)-1]
		k.complain("%s in %s: no row for when [%s] does not hold either, after %s", kind, s, last.guard, k.row(last.row))
	})
}

// tried sets in each arrow which guards stand before its own.
func (k *checker[M]) tried() {
	for _, s := range k.chart.States {
		for _, kind := range append(slices.Clone(k.chart.Kinds), AtOnce) {
			var guards []string
			group := k.arrows[key{s.Name, kind}]
			for i := range group {
				group[i].tried = guards[:len(guards):len(guards)]
				guards = append(guards, group[i].guard)
			}
		}
	}
}

func (k *checker[M]) total() {
	k.eachPair(func(s State, kind events.Kind) {
		if _, ok := k.ignored[key{s, kind}]; ok || len(k.arrows[key{s, kind}]) > 0 || answers(kind) {
			return
		}
		k.complain("%s in %s: nobody decided; add a row or an Ignore; rows of other states on it: %s", kind, s,
			k.rowsThat(func(r Row[M]) bool { return r.On.Has(kind) }))
	})
}

func (k *checker[M]) reachable() {
	reached := map[State]bool{}
	if len(k.chart.States) > 0 {
		reached[k.chart.States[0].Name] = true
	}
	for at, group := range k.arrows {
		for _, a := range group {
			if a.to != at.state {
				reached[a.to] = true
			}
		}
	}
	for _, s := range k.chart.States {
		if !reached[s.Name] {
			k.complain("state %s: no arrow leads to it; its own rows: %s", s.Name,
				k.rowsThat(func(r Row[M]) bool { return slices.Contains(r.From, s.Name) }))
		}
	}
}

// happy checks that every step of the happy path can be taken.
func (k *checker[M]) happy() {
	edges := Describe(k.Compiled).Edges()
	for i := 1; i < len(k.chart.Happy); i++ {
		from, to := k.chart.Happy[i-1], k.chart.Happy[i]
		if !slices.ContainsFunc(edges, func(e Edge) bool { return e.From == from && e.To == to }) {
			k.complain("the happy path goes from %s to %s, but no row does; rows from %s: %s", from, to, from,
				k.rowsThat(func(r Row[M]) bool { return slices.Contains(r.From, from) && r.To != Stay && r.To != from }))
		}
	}
}

// choices checks that a choice decides by AtOnce alone, leads on, and is no state
// in which a machine would have to rest.
func (k *checker[M]) choices() {
	for i, s := range k.chart.States {
		if !k.choice(s.Name) {
			continue
		}
		if i == 0 {
			k.complain("%s is a choice and the first state: a machine would begin there, and nothing would lead it on", s.Name)
		}
		if s.Name == k.chart.Final {
			k.complain("%s is a choice and the final state: no machine rests there", s.Name)
		}
		for _, kind := range k.chart.Kinds {
			for _, a := range k.arrows[key{s.Name, kind}] {
				k.complain("%s in %s: a choice gets no event: %s", kind, s.Name, k.row(a.row))
			}
			if _, ok := k.ignored[key{s.Name, kind}]; ok {
				k.complain("%s in %s is ignored: no event comes in a choice, so leave it out", kind, s.Name)
			}
		}
		for _, a := range k.arrows[key{s.Name, AtOnce}] {
			switch {
			case a.to == s.Name:
				k.complain("%s: a choice cannot stay: say where it leads", k.row(a.row))
			case k.choice(a.to):
				k.complain("%s: leads to another choice, %s", k.row(a.row), a.to)
			}
		}
	}
}

// eachPair walks the (state, kind) pairs that have to be decided, in the
// chart's own order.
func (k *checker[M]) eachPair(do func(State, events.Kind)) {
	for _, s := range k.chart.States {
		if s.Name == k.chart.Final {
			continue
		}
		if k.choice(s.Name) {
			do(s.Name, AtOnce)
			continue
		}
		for _, kind := range k.chart.Kinds {
			do(s.Name, kind)
		}
	}
}
