package sim

import "testing"

// TestEnsembleWorlds runs worlds of everything that ensembles do without being broken. Every
// world keeps every promise.
func TestEnsembleWorlds(t *testing.T) {
	n := howMany(t, "worlds of every thing that ensembles do", 4, 6, 40)
	for _, f := range ensembleFaults {
		t.Run(f.name, func(t *testing.T) {
			plant := f.plant()
			sum := NewSum(*first)
			Many(t.Context(), sum, n, Options{Plant: &plant}, nil)
			for _, r := range sum.Failed {
				t.Errorf("%s ARGS='-plant %q'", r.Report(), plant.Name)
			}
			for _, happens := range append(f.then, f.name) {
				if sum.Cover.Faults[happens] == 0 {
					t.Errorf("%q never happened in %d worlds", happens, n)
				}
			}
			t.Logf("%d worlds in %.1f s, %d faults, %d failed", sum.Worlds, sum.Took.Seconds(),
				sum.Cover.Faults[f.name], len(sum.Failed))
		})
	}
}
