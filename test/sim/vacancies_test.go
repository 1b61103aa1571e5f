package sim

import (
	"testing"

	"github.com/incumbent-go/incumbent/test/selection"
)

// TestVacancyWorlds runs worlds of every fault behind which a line may stay without a leader,
// if the product recovers from it. The fault happens, and every world keeps every promise.
func TestVacancyWorlds(t *testing.T) {
	n := *worlds
	if n == 0 {
		n = selection.Of(t, "worlds of every fault behind which a line may stay vacant", int64(10), 20, 100)
	}
	for _, f := range vacancyFaults {
		if f.recovers {
			t.Run(f.name, func(t *testing.T) { runVacancies(t, f, n) })
		}
	}
}

func runVacancies(t *testing.T, f vacancyFault, n int64) {
	sum := NewSum(*first)
	Many(t.Context(), sum, n, Options{Plant: &Plant{Name: "none: " + f.name, Shape: f.shapeWorld}}, nil)
	for _, r := range sum.Failed {
		t.Errorf("%s ARGS='-plant %q'", r.Report(), "none: "+f.name)
	}
	if sum.Cover.Faults[f.name] == 0 {
		t.Errorf("%q never happened in %d worlds", f.name, n)
	}
	t.Logf("%d worlds in %.1f s, %d faults, %d failed", sum.Worlds, sum.Took.Seconds(), sum.Cover.Faults[f.name], len(sum.Failed))
}
