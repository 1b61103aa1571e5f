package sim

import (
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// TestVacancyWorlds runs worlds of every fault behind which a line may stay without a leader.
// If the product recovers from the fault, every world keeps every promise. If not, one of the
// first worlds shows that, so that vacancyFaults says what is true.
func TestVacancyWorlds(t *testing.T) {
	n := howMany(t, "worlds of every fault behind which a line may stay vacant", 4, 6, 20)
	for _, f := range selection.Some(t, "faults", 4, len(vacancyFaults), vacancyFaults) {
		t.Run(f.name, func(t *testing.T) {
			p := Plant{Name: "none: " + f.name, Shape: f.shapeWorld}
			if f.recovers {
				runVacancies(t, f, p, n)
			} else if _, shows := firstBroken(t.Context(), p, 1, 60); !shows {
				t.Errorf("60 worlds recover from %q: vacancyFaults says that the product does not", f.name)
			}
		})
	}
}

func runVacancies(t *testing.T, f vacancyFault, p Plant, n int64) {
	sum := NewSum(*first)
	Many(t.Context(), sum, n, Options{Plant: &p}, nil)
	for _, r := range sum.Failed {
		t.Errorf("%s ARGS='-plant %q'", r.Report(), p.Name)
	}
	if sum.Cover.Faults[f.name] == 0 {
		t.Errorf("%q never happened in %d worlds", f.name, n)
	}
	t.Logf("%d worlds in %.1f s, %d faults, %d failed", sum.Worlds, sum.Took.Seconds(), sum.Cover.Faults[f.name],
		len(sum.Failed))
}
