package machines

import (
	"slices"
	"testing"
)

// A chart that exceeds these should be two charts, or should have more of its state in data.
const (
	mostStates  = 14
	mostRows    = 100
	mostIgnores = 25
)

// maxRowsInLine is lower, because the recipes with a line share their rows.
const mostRowsInLine = 92

var inLines = []string{"latch", "selector", "mutex", "readwrite", "election"}

func TestBudget(t *testing.T) {
	for _, r := range Recipes() {
		d := r.Describe()
		ignores := map[string]bool{}
		for _, i := range d.Ignored {
			ignores[i.Why] = true
		}
		t.Logf("%-10s %2d states %3d rows %2d ignore lines (%d pairs)", d.Name, len(d.States), len(d.Rows), len(ignores), len(d.Ignored))
		rows := mostRows
		if slices.Contains(inLines, d.Name) {
			rows = mostRowsInLine
		}
		if len(d.States) > mostStates || len(d.Rows) > rows || len(ignores) > mostIgnores {
			t.Errorf("%s is over its budget of %d states, %d rows, %d ignore lines", d.Name, mostStates, rows, mostIgnores)
		}
	}
}
