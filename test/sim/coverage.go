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

// Coverage counts which rows and which faults fired.
type Coverage struct {
	Rows        map[Row]uint64
	Faults      map[string]uint64
	StateFaults map[string]uint64 // ambushes
	Steps       uint64
	Writes      uint64 // guarded writes that were committed

	// Lapses counts deadlines that passed while a process was stopped between a
	// step and its effects, which would have moved them on.
	LapsedDeadlines uint64
	// Marooned counts sessions that came back with a backup, to an ensemble whose
	// zxid was below what they had seen: a probe found out and ended them.
	SessionsFromBackup uint64
	// Deaf counts leaders whose node was first made unreadable and then deleted,
	// both by an operator: servers do not tell a watcher that may not read.
	UnreadableLeaders uint64
}

// Row is an arrow as it fired.
type Row struct{ Chart, From, Row string }

func newCoverage() *Coverage {
	return &Coverage{Rows: map[Row]uint64{}, Faults: map[string]uint64{}, StateFaults: map[string]uint64{}}
}

func (v *Coverage) note(r events.Record) {
	chart, _, _ := strings.Cut(string(r.Machine), "-")
	row, chosen, choice := strings.Cut(r.Row, " > ")
	first := Row{chart, r.From, row}
	v.Rows[first]++
	if choice { // the row of the choice behind it
		v.Rows[Row{chart, choices()[first], chosen}]++
	}
	v.Steps++
}

// choices are the states that rows lead to: of those that lead to a choice, its name.
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

// Add takes another run's counts in.
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

// Goals is how many rows there are and how many fired, and all that should have
// happened and did not, by name: rows of the recipes that are in the simulation,
// a close and a cancel in every state, faults and ambushes. A row counts as one
// however many states it leaves.
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
	for _, a := range stateFaults {
		if v.StateFaults[a.name] == 0 {
			missing = append(missing, "ambush: "+a.name)
		}
	}
	sort.Strings(missing)
	return rows, hit, missing
}

// chart is Goals of one recipe, without faults and ambushes.
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

// times is how often a row fired, whichever state it left.
func (v *Coverage) times(chart string, row engine.RowDoc) (n uint64) {
	for _, from := range row.From {
		n += v.Rows[Row{chart, string(from), row.Label()}]
	}
	return n
}

// seldom are the rows that fired, fewer than so many times, among them those of
// which goals.go says that no world can fire them, or hardly any.
func (v *Coverage) rare(d engine.Description, than uint64) (rows []string) {
	for _, row := range d.ByKind() {
		if n := v.times(d.Name, row); n > 0 && n < than {
			rows = append(rows, fmt.Sprintf("%s --%s--> %d times", states(row.From), row.Label(), n))
		}
	}
	return rows
}

// lacks are the rows that were lent to a recipe and did not fire.
func (v *Coverage) lacks(recipe string) (missing []string) {
	for _, l := range sessionRows {
		if l.recipe == recipe && v.Rows[l.Row] == 0 {
			missing = append(missing, fmt.Sprintf("%s: %s --%s-->", l.Chart, l.From, l.Row.Row))
		}
	}
	return missing
}

// endings are the states in which no close, or no end of a context, came.
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

// Absent are the recipes that have no place in the simulation yet.
func Absent() (names []string) {
	for _, r := range machines.Recipes() {
		if r.Name() != "session" && roleOf(r.Name()) == nil {
			names = append(names, r.Name())
		}
	}
	return names
}
