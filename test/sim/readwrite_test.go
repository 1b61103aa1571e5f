package sim

import (
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// TestReadWriteWorlds runs worlds in which read-write locks are used, and nothing
// else. Every promise holds in every one of them, and over a long run every row of
// the chart has fired.
func TestReadWriteWorlds(t *testing.T) {
	n := min(*worlds/20, 1000)
	if *worlds > 20_000 {
		n = *worlds
	}
	if testing.Short() || raced {
		n = min(n, 100)
	}
	sum := NewSum(*first)
	plant := ReadWriteWorlds
	Many(t.Context(), sum, n, Options{Plant: &plant}, nil)
	t.Log(sum)
	for _, r := range sum.Failed {
		t.Error(r.Report())
	}
	d := machines.ReadWriteRecipe.Describe()
	rows, missing := sum.Cover.rowsOf(d)
	t.Logf("%d of %d rows fired", rows-len(missing), rows)
	for _, m := range append(missing, sum.Cover.endings(d)...) {
		if n >= 20_000 {
			t.Errorf("never fired: %s", m)
		} else {
			t.Logf("not fired in so few worlds: %s", m)
		}
	}
}
