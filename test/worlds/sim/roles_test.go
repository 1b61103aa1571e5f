package sim

import (
	"maps"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

// quiet are the states in which a machine waits for a command or the next connection, and
// the choices, in which it does not wait.
var quiet = []engine.State{"latent", "idle", "outside", "inside", "suspended", "overfull", "closed",
	"deciding", "departing"}

// TestRoles checks that every recipe has one role, that the role says what wakes a machine in each state that waits,
// that it names only states of the recipe's chart, and that the label of its line is known: Client.Line and
// Client.Watch would take its nodes for foreign ones.
func TestRoles(t *testing.T) {
	if absent := Absent(); len(absent) > 0 {
		t.Errorf("recipes that are not in the list of roles: %s", absent)
	}
	for i, r := range roles {
		if slices.ContainsFunc(roles[:i], func(o *role) bool { return o.title() == r.title() }) {
			t.Errorf("two roles are %s", r.title())
		}
		isItsLine := func(k machines.LineKind) bool { return k.Label == r.line.label && k.Shared == r.line.readers }
		if r.line.label != "" && !r.line.noGUID && !slices.ContainsFunc(machines.Lines(), isItsLine) {
			t.Errorf("%s: machines.Lines has no line with the label %q", r.recipe, r.line.label)
		}
		known := chartStates(r.recipe)
		for _, s := range known {
			if _, wakes := r.states.wakes[s]; !wakes && !slices.Contains(quiet, s) {
				t.Errorf("%s does not say what wakes a machine in %q", r.recipe, s)
			}
		}
		for s := range r.states.wakes {
			if _, shared := lineWakes[s]; !shared && !slices.Contains(known, s) {
				t.Errorf("%s has no state %q that something could wake", r.recipe, s)
			}
		}
		for _, s := range append(slices.Collect(maps.Keys(r.states.faults)), r.states.final...) {
			if s != "" && !slices.Contains(known, s) {
				t.Errorf("%s has no state %q", r.recipe, s)
			}
		}
	}
}

// chartStates returns the states of a recipe's chart.
func chartStates(recipe string) (all []engine.State) {
	for _, r := range machines.Recipes() {
		if r.Name() == recipe {
			for _, s := range r.Describe().States {
				all = append(all, s.Name)
			}
		}
	}
	return all
}

// TestStateFaultsAreKnown checks that the roles name only state faults of the tables.
func TestStateFaultsAreKnown(t *testing.T) {
	for _, r := range roles {
		for state, names := range r.states.faults {
			for _, name := range names {
				if !slices.ContainsFunc(slices.Concat(stateFaults, moreFaults), func(f stateFault) bool {
					return f.name == name
				}) {
					t.Errorf("%s, %q: there is no state fault %q", r.recipe, state, name)
				}
			}
		}
	}
}

// TestGoalsNameRows checks that each row in goals.go exists.
func TestGoalsNameRows(t *testing.T) {
	exists := func(chart string, from engine.State, label string) bool {
		for _, r := range machines.Recipes() {
			if (r.Name() == chart || chart == "") && slices.ContainsFunc(r.Describe().ByKind(),
				func(row engine.RowDoc) bool { return row.Label() == label && slices.Contains(row.From, from) }) {
				return true
			}
		}
		return false
	}
	for _, u := range unreachableRows {
		charts := u.charts
		if charts == nil {
			charts = []string{""} // any
		}
		for _, chart := range charts {
			if !exists(chart, u.from, u.row) {
				t.Errorf("%s has no row %q from %q", chart, u.row, u.from)
			}
		}
	}
	for _, s := range sessionRows {
		if !exists(s.Chart, engine.State(s.From), s.Row.Row) {
			t.Errorf("%s has no row %q from %q", s.Chart, s.Row.Row, s.From)
		}
	}
}
