package sim

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Coverage counts how often rows and faults fired.
type Coverage struct {
	Rows        map[Row]uint64
	Faults      map[string]uint64
	StateFaults map[string]uint64 // how often each state fault struck
	Steps       uint64
	Writes      uint64 // guarded writes that were committed

	// LapsedDeadlines counts deadlines that passed while a process was paused between
	// a step and its effects, which would have moved them.
	LapsedDeadlines uint64
	// SessionsFromBackup counts sessions that came back with a backup, to an ensemble
	// whose zxid was below theirs. A probe noticed that and ended them.
	SessionsFromBackup uint64
	// UnreadableLeaders counts leaders whose node an operator made unreadable and then
	// deleted: servers do not tell a watcher that may not read.
	UnreadableLeaders uint64
}

// Row is a row of a chart as it fired.
type Row struct{ Chart, From, Row string }

func newCoverage() *Coverage {
	return &Coverage{Rows: map[Row]uint64{}, Faults: map[string]uint64{}, StateFaults: map[string]uint64{}}
}

func (v *Coverage) note(r events.Record) {
	chart, _, _ := strings.Cut(string(r.Machine), "-")
	row, chosen, choice := strings.Cut(r.Row, " > ")
	first := Row{chart, r.From, row}
	v.Rows[first]++
	if choice { // the row behind the choice
		v.Rows[Row{chart, choices()[first], chosen}]++
	}
	v.Steps++
}

// choices returns the state that each row leads to: for a choice, its name.
var choices = sync.OnceValue(func() map[Row]string {
	all := map[Row]string{}
	for _, r := range machines.Recipes() {
		d := r.Describe()
		for _, row := range d.ByKind() {
			for _, from := range row.From {
				all[Row{d.Name, string(from), row.Label()}] = string(row.To)
			}
		}
	}
	return all
})

func (v *Coverage) fault(name string)      { v.Faults[name]++ }
func (v *Coverage) stateFault(name string) { v.StateFaults[name]++ }

// Add adds the counts of another run.
func (v *Coverage) Add(o *Coverage) {
	for r, n := range o.Rows {
		v.Rows[r] += n
	}
	for f, n := range o.Faults {
		v.Faults[f] += n
	}
	for a, n := range o.StateFaults {
		v.StateFaults[a] += n
	}
	v.Steps += o.Steps
	v.Writes += o.Writes
	v.LapsedDeadlines += o.LapsedDeadlines
	v.SessionsFromBackup += o.SessionsFromBackup
	v.UnreadableLeaders += o.UnreadableLeaders
}

// Goals returns how many rows there are, how many fired, and what should have
// happened and did not: rows of the recipes in the simulation, a close and a cancel in
// every state, faults and state faults. A row that leaves several states counts once.
func (v *Coverage) Goals() (rows, hit int, missing []string) {
	for _, r := range machines.Recipes() {
		d := r.Describe()
		if role := roleOf(d.Name); d.Name == "session" || role != nil && !role.separate {
			n, fired, lacks := v.chart(d)
			rows, hit, missing = rows+n, hit+fired, append(missing, lacks...)
		}
	}
	for _, f := range faults {
		if v.Faults[f.name] == 0 {
			missing = append(missing, "fault: "+f.name)
		}
	}
	for _, f := range stateFaults {
		if v.StateFaults[f.name] == 0 {
			missing = append(missing, "state fault: "+f.name)
		}
	}
	sort.Strings(missing)
	return rows, hit, missing
}

// chart returns the goals of one recipe, without faults.
func (v *Coverage) chart(d engine.Description) (rows, hit int, missing []string) {
	rows, missing = v.rowsOf(d)
	return rows, rows - len(missing), append(missing, v.endings(d)...)
}

func (v *Coverage) rowsOf(d engine.Description) (rows int, missing []string) {
	for _, row := range d.ByKind() {
		fired := v.times(d.Name, row) > 0
		if !fired && unreachable(d.Name, row) {
			continue
		}
		if rows++; !fired {
			missing = append(missing, fmt.Sprintf("%s: %s --%s-->", d.Name, states(row.From), row.Label()))
		}
	}
	return rows, missing
}

// times returns how often a row fired, in all states that it leaves.
func (v *Coverage) times(chart string, row engine.RowDoc) (n uint64) {
	for _, from := range row.From {
		n += v.Rows[Row{chart, string(from), row.Label()}]
	}
	return n
}

// rare returns the rows that fired, but less often than so many times. Some of them
// are in goals.go.
func (v *Coverage) rare(d engine.Description, than uint64) (rows []string) {
	for _, row := range d.ByKind() {
		if n := v.times(d.Name, row); n > 0 && n < than {
			rows = append(rows, fmt.Sprintf("%s --%s--> %d times", states(row.From), row.Label(), n))
		}
	}
	return rows
}

// lacks returns the rows of the session that only a recipe can fire, and that did not fire.
func (v *Coverage) lacks(recipe string) (missing []string) {
	for _, l := range sessionRows {
		if l.recipe == recipe && v.Rows[l.Row] == 0 {
			missing = append(missing, fmt.Sprintf("%s: %s --%s-->", l.Chart, l.From, l.Row.Row))
		}
	}
	return missing
}

// endings returns the states in which no close came, or no end of a context.
func (v *Coverage) endings(d engine.Description) (missing []string) {
	for _, row := range d.ByKind() {
		if row.On[0] != events.CommandClose && row.On[0] != events.CommandCancel {
			continue
		}
		for _, from := range row.From {
			if came := slices.ContainsFunc(d.ByKind(), func(other engine.RowDoc) bool {
				return other.On[0] == row.On[0] && v.Rows[Row{d.Name, string(from), other.Label()}] > 0
			}); !came {
				missing = append(missing, fmt.Sprintf("%s: %s in %s", d.Name, row.On[0], from))
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

func states(all []engine.State) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

// openedByMachines are the recipes that have no role: a client opens the session, and machines open the others.
var openedByMachines = []string{"session", "leftover", "jobdealer"}

// Absent returns the recipes that have no place in the simulation.
func Absent() (names []string) {
	for _, r := range machines.Recipes() {
		if !slices.Contains(openedByMachines, r.Name()) && roleOf(r.Name()) == nil {
			names = append(names, r.Name())
		}
	}
	return names
}
