package machines

import (
	"slices"
	"testing"
)

// A chart that exceeds these should be two charts, or should have more of its state in data.
const (
	maxStates  = 14
	maxRows    = 100
	maxIgnores = 25
)

// maxRowsInLine is lower, because the recipes with a line share their rows.
const maxRowsInLine = 94

var inLines = []string{"latch", "selector", "mutex", "readwrite", "election"}

func TestBudget(t *testing.T) {
	for _, r := range Recipes() {
		d := r.Describe()
		ignores := map[string]bool{}
		for _, i := range d.Ignored {
			ignores[i.Why] = true
		}
		t.Logf("%-10s %2d states %3d rows %2d ignore lines (%d pairs)", d.Name, len(d.States), len(d.Rows),
			len(ignores), len(d.Ignored))
		rows := maxRows
		if slices.Contains(inLines, d.Name) {
			rows = maxRowsInLine
		}
		if len(d.States) > maxStates || len(d.Rows) > rows || len(ignores) > maxIgnores {
			t.Errorf("%s is over its budget of %d states, %d rows, %d ignore lines", d.Name, maxStates, rows,
				maxIgnores)
		}
	}
}
