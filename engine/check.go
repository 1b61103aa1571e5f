package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// checker collects everything that is wrong with a chart, so that one run of
// the program reports all of it.
type checker struct {
	*compiled
	listed   map[State]bool
	declared map[events.Kind]bool
	problems []string
}

func (k *checker) complain(format string, args ...any) {
	k.problems = append(k.problems, fmt.Sprintf(format, args...))
}

func (k *checker) states() {
	if len(k.chart.states) == 0 {
		k.complain("no states: list them, the first is where a machine begins")
	}
	for _, s := range k.chart.states {
		if k.listed[s.Name] {
			k.complain("state %s is listed twice", s.Name)
		}
		k.listed[s.Name] = true
	}
	for _, c := range k.chart.composites {
		for _, s := range c.States {
			k.known(s, "composite "+c.Name)
		}
	}
	for _, s := range k.chart.happy {
		k.known(s, "the happy path")
	}
	if k.chart.final != "" {
		k.known(k.chart.final, "Final")
	}
}

func (k *checker) kinds() {
	k.declared = map[events.Kind]bool{}
	for _, kind := range k.chart.kinds {
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

func (k *checker) known(s State, where any) {
	if !k.listed[s] {
		k.complain("%s names state %q, which States does not list", where, s)
	}
}

func (k *checker) rows() {
	for i, r := range k.chart.rows {
		// A text only if there is something to complain of: programs compile charts when they start.
		var where any = rowName{k, i}
		k.trigger(r.on, where)
		if len(r.from) == 0 {
			k.complain("%s: starts nowhere", where)
		}
		if r.to != Stay {
			k.known(r.to, where)
		}
		a := arrow{row: i, when: r.when, to: r.to}
		if r.when != nil {
			a.guard = k.nameOf(r.is.when, where, "guard")
		}
		for _, do := range r.steps() {
			a.acts = append(a.acts, act{k.nameOf(do.symbol, where, "action"), do.do})
		}
		if r.do == nil && r.then != nil {
			k.complain("%s: Then follows nothing: write it as Do", where)
		}
		for _, from := range r.from {
			k.known(from, where)
			if from == k.chart.final {
				k.complain("%s: leaves the final state %s, where a machine is already forgotten", where, from)
			}
			k.arrow(a, from, r.on)
		}
	}
}

// trigger checks the kinds on which a row is taken.
func (k *checker) trigger(on Trigger, where any) {
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
func (k *checker) arrow(a arrow, from State, on Trigger) {
	if a.to == Stay {
		a.to = from
	}
	for _, kind := range on.kinds {
		a.name = label(kind, a.guard)
		k.arrows[key{from, kind}] = append(k.arrows[key{from, kind}], a)
	}
}

// nameOf returns a function's name, and complains about a function without one.
func (k *checker) nameOf(s symbol, where any, what string) string {
	switch {
	case strings.Contains(s.name, "[...]"):
		k.complain("%s: %s %s (%s) has a generic receiver: its name cannot be drawn", where, what, s.name, s.place())
	case strings.Contains(s.name, ".func"), strings.HasSuffix(s.name, "-fm"):
		k.complain("%s: %s %s (%s) is a closure or bound method: use a method expression such as (*latch).first", where,
			what, s.name, s.place())
	}
	return s.last()
}

func (k *checker) ignores() {
	for _, ig := range k.chart.ignores {
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

func (k *checker) groups() {
	k.eachPair(func(s State, kind events.Kind) {
		group := k.arrows[key{s, kind}]
		for i, a := range group {
			if before := slices.IndexFunc(group, func(b arrow) bool { return b.guard == a.guard }); before < i {
				k.complain("%s in %s: two rows with guard [%s]: %s, %s", kind, s, a.guard, k.row(group[before].row),
					k.row(a.row))
			}
			if a.guard == "" && i < len(group)-1 {
				k.complain("%s in %s: a row stands after the one without a guard: %s after %s", kind, s,
					k.row(group[i+1].row), k.row(a.row))
			}
		}
		if len(group) == 0 || group[len(group)-1].guard == "" {
			return
		}
		last := group[len(group)-1]
		k.complain("%s in %s: no row for when [%s] does not hold either, after %s", kind, s, last.guard,
			k.row(last.row))
	})
}

// tried sets in each arrow which guards stand before its own.
func (k *checker) tried() {
	for _, s := range k.chart.states {
		for _, kind := range append(slices.Clone(k.chart.kinds), AtOnce) {
			var guards []string
			group := k.arrows[key{s.Name, kind}]
			for i := range group {
				group[i].tried = guards[:len(guards):len(guards)]
				guards = append(guards, group[i].guard)
			}
		}
	}
}

func (k *checker) total() {
	k.eachPair(func(s State, kind events.Kind) {
		if _, ok := k.ignored[key{s, kind}]; ok || len(k.arrows[key{s, kind}]) > 0 || answers(kind) {
			return
		}
		k.complain("%s in %s: nobody decided; add a row or an Ignore; rows of other states on it: %s", kind, s,
			k.rowsThat(func(r row) bool { return r.on.Has(kind) }))
	})
}

func (k *checker) reachable() {
	reached := map[State]bool{}
	if len(k.chart.states) > 0 {
		reached[k.chart.states[0].Name] = true
	}
	for at, group := range k.arrows {
		for _, a := range group {
			if a.to != at.state {
				reached[a.to] = true
			}
		}
	}
	for _, s := range k.chart.states {
		if !reached[s.Name] {
			k.complain("state %s: no arrow leads to it; its own rows: %s", s.Name,
				k.rowsThat(func(r row) bool { return slices.Contains(r.from, s.Name) }))
		}
	}
}

// happy checks that every step of the happy path can be taken.
func (k *checker) happy() {
	edges := describe(k.compiled).Edges()
	for i := 1; i < len(k.chart.happy); i++ {
		from, to := k.chart.happy[i-1], k.chart.happy[i]
		if !slices.ContainsFunc(edges, func(e Edge) bool { return e.From == from && e.To == to }) {
			k.complain("the happy path goes from %s to %s, but no row does; rows from %s: %s", from, to, from,
				k.rowsThat(func(r row) bool { return slices.Contains(r.from, from) && r.to != Stay && r.to != from }))
		}
	}
}

// choices checks that a choice decides by AtOnce alone, leads on, and is no state
// in which a machine would have to rest.
func (k *checker) choices() {
	for i, s := range k.chart.states {
		if !k.choice(s.Name) {
			continue
		}
		if i == 0 {
			k.complain("%s is a choice and the first state: a machine would begin there, and nothing would lead it on",
				s.Name)
		}
		if s.Name == k.chart.final {
			k.complain("%s is a choice and the final state: no machine rests there", s.Name)
		}
		for _, kind := range k.chart.kinds {
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
func (k *checker) eachPair(do func(State, events.Kind)) {
	for _, s := range k.chart.states {
		if s.Name == k.chart.final {
			continue
		}
		if k.choice(s.Name) {
			do(s.Name, AtOnce)
			continue
		}
		for _, kind := range k.chart.kinds {
			do(s.Name, kind)
		}
	}
}
