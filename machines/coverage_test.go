package machines

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// coverage counts which rows fired, and where connections ended.
type coverage struct {
	rows    map[string]bool   // chart, state, label
	choices map[string]string // the choice that such a row leads to
	heard   map[string]bool   // chart, state, kind: what has rows
}

func newCoverage() *coverage {
	return &coverage{rows: map[string]bool{}, choices: charted.choices, heard: charted.heard}
}

// charted is what the charts have, for every coverage.
var charted = charts()

func charts() coverage {
	v := coverage{choices: map[string]string{}, heard: map[string]bool{}}
	for _, r := range Recipes() {
		d := r.Describe()
		for _, row := range d.ByKind() {
			for _, from := range row.From {
				v.choices[fmt.Sprintf("%s %s %s", d.Name, from, row.Label())] = string(row.To)
				kind, _, _ := strings.Cut(row.Label(), " ")
				v.heard[fmt.Sprintf("%s %s %s", d.Name, from, kind)] = true
			}
		}
	}
	return v
}

// note counts a row, and the row of a choice that was taken behind it.
func (v *coverage) note(r events.Record) {
	chart, _, _ := strings.Cut(string(r.Machine), "-")
	row, chosen, choice := strings.Cut(r.Row, " > ")
	key := chart + " " + r.From + " " + row
	v.rows[key] = true
	if choice {
		v.rows[chart+" "+v.choices[key]+" "+chosen] = true
	}
	if r.Row == events.RowIgnored {
		v.rows[chart+" "+r.From+" "+string(r.Event.Kind)] = true
	}
}

// hears reports whether the machine's chart has a row for a kind in this state.
func (v *coverage) hears(machine events.ID, state string, kind events.Kind) bool {
	chart, _, _ := strings.Cut(string(machine), "-")
	return v.heard[fmt.Sprintf("%s %s %s", chart, state, kind)]
}

// gaps names every row that no trace fires, and every state that no trace
// suspends or expires.
func (v *coverage) gaps() (all []string) {
	for _, r := range Recipes() {
		d := r.Describe()
		for _, row := range d.ByKind() {
			if !v.some(d.Name, row) {
				all = append(all,
					fmt.Sprintf("%s: no trace fires the row %v --%s--> %s", d.Name, row.From, row.Label(), row.To))
			}
		}
		for _, s := range d.States {
			all = append(all, v.unended(d, s.Name)...)
		}
	}
	return all
}

func (v *coverage) some(chart string, row engine.RowDoc) bool {
	for _, from := range row.From {
		if v.rows[fmt.Sprintf("%s %s %s", chart, from, row.Label())] {
			return true
		}
	}
	return false
}

// unended names the ends of a connection that no trace has in this state.
func (v *coverage) unended(d engine.Description, s engine.State) (all []string) {
	if s == d.Final || s == deciding || s == departing || d.Name == "session" {
		return nil
	}
	if s == suspended { // a connection that is gone is not told again
		v.rows[fmt.Sprintf("%s %s %s", d.Name, s, events.ConnectionSuspended)] = true
	}
	for _, kind := range []events.Kind{events.ConnectionSuspended, events.ConnectionLost} {
		hit := false
		for key := range v.rows {
			hit = hit || strings.HasPrefix(key, fmt.Sprintf("%s %s %s", d.Name, s, kind))
		}
		if !hit {
			all = append(all, fmt.Sprintf("%s: no trace has %s in %s", d.Name, kind, s))
		}
	}
	return all
}

func TestNoTraceOutsideItsRecipe(t *testing.T) {
	for _, r := range Recipes() {
		files, _ := filepath.Glob(filepath.Join("testdata", r.Name(), "*"))
		if len(files) == 0 {
			t.Errorf("no golden trace for %s", r.Name())
		}
	}
}
