package sim

import (
	"slices"
	"sort"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// Coverage counts which rows and which faults fired.
type Coverage struct {
	Rows   map[Row]uint64
	Faults map[string]uint64
	Steps  uint64

	// Lapses counts deadlines that passed while a process was stopped between a
	// step and its effects, which would have moved them on.
	Lapses uint64
	// Marooned counts sessions that came back with a backup, to an ensemble whose
	// zxid was below what they had seen: a probe found out and ended them.
	Marooned uint64
	// Deaf counts leaders whose node was first made unreadable and then deleted,
	// both by an operator: servers do not tell a watcher that may not read.
	Deaf uint64
}

// Row is an arrow as it fired.
type Row struct{ Chart, From, Row string }

func newCoverage() *Coverage { return &Coverage{Rows: map[Row]uint64{}, Faults: map[string]uint64{}} }

func (v *Coverage) note(r events.Record) {
	chart, _, _ := strings.Cut(string(r.Machine), "-")
	v.Rows[Row{chart, r.From, r.Row}]++
	v.Steps++
}

func (v *Coverage) fault(name string) { v.Faults[name]++ }

// Add takes another run's counts in.
func (v *Coverage) Add(o *Coverage) {
	for r, n := range o.Rows {
		v.Rows[r] += n
	}
	for f, n := range o.Faults {
		v.Faults[f] += n
	}
	v.Steps += o.Steps
	v.Lapses += o.Lapses
	v.Marooned += o.Marooned
	v.Deaf += o.Deaf
}

// Goals is how many rows and faults there are, and which never fired, by name.
// A row counts as one however many states it leaves.
func (v *Coverage) Goals() (rows, hit int, missing []string) {
	for _, r := range machines.Recipes() {
		d := r.Describe()
		if slices.Contains(unplaced, d.Name) {
			continue
		}
		for _, row := range d.Rows {
			rows++
			fired := false
			for _, from := range row.From {
				fired = fired || v.Rows[Row{d.Name, string(from), row.Label()}] > 0
			}
			if fired {
				hit++
				continue
			}
			if unreachable(d.Name, row) {
				rows--
				continue
			}
			from := make([]string, len(row.From))
			for i, s := range row.From {
				from[i] = string(s)
			}
			missing = append(missing, d.Name+": "+strings.Join(from, ",")+" --"+row.Label()+"-->")
		}
	}
	for _, f := range faults {
		if v.Faults[f.name] == 0 {
			missing = append(missing, "fault: "+f.name)
		}
	}
	sort.Strings(missing)
	return rows, hit, missing
}
