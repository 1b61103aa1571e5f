package sim

import "testing"

// TestServerWorlds runs worlds of every kind of ensemble and of faults of servers that has
// worlds of its own. Every world keeps every promise, and what the kind is about has happened.
func TestServerWorlds(t *testing.T) {
	n := howMany(t, "worlds of every kind of servers", 3, 12, 60)
	for _, k := range serverWorlds {
		t.Run(k.name, func(t *testing.T) {
			p := Plant{Name: "none: " + k.name, Shape: k.shapeWorld}
			sum := NewSum(*first)
			Many(t.Context(), sum, n, Options{Plant: &p}, nil)
			for _, r := range sum.Failed {
				t.Errorf("%s ARGS='-plant %q'", r.Report(), p.Name)
			}
			for _, name := range append(k.faults, k.rare...) {
				if sum.Cover.Faults[name] > 0 {
					continue
				}
				if n >= 60 {
					t.Errorf("%q never happened in %d worlds", name, n)
				} else {
					t.Logf("%q did not happen in so few worlds", name)
				}
			}
			t.Logf("%d worlds in %.1f s, %d failed", sum.Worlds, sum.Took.Seconds(), len(sum.Failed))
		})
	}
}
