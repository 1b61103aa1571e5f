package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// TestSeparateWorlds runs worlds of every role that has separate ones. Every world keeps
// every promise, and in a long run, -worlds 20000, every row of the role's chart has fired.
func TestSeparateWorlds(t *testing.T) {
	n := howMany(t, "worlds of every role", 6, 10, 80)
	for _, plant := range SeparateWorlds() {
		title := strings.TrimPrefix(plant.Name, "none: ")
		at := slices.IndexFunc(roles, func(r *role) bool { return r.title() == title })
		t.Run(title, func(t *testing.T) {
			runSeparate(t, plant, roles[at].dirs.own, max(n/max(roles[at].share, 1), 2))
		})
	}
}

func runSeparate(t *testing.T, plant Plant, dir string, n int64) {
	sum := NewSum(*first)
	Many(t.Context(), sum, n, Options{Plant: &plant}, nil)
	for _, r := range sum.Failed {
		t.Errorf("%s ARGS='-plant %q'", r.Report(), plant.Name)
	}
	for _, r := range machines.Recipes() {
		if !slices.ContainsFunc(roles, func(role *role) bool {
			return role.recipe == r.Name() && role.dirs.own == dir
		}) {
			continue
		}
		rows, hit, missing := sum.Cover.chart(r.Describe())
		t.Logf("%d worlds in %.1f s: %d of %d rows of %s fired, %d guarded writes committed", sum.Worlds,
			sum.Took.Seconds(), hit, rows, r.Name(), sum.Cover.Writes)
		for _, row := range sum.Cover.rare(r.Describe(), 8) {
			t.Logf("seldom: %s: %s", r.Name(), row)
		}
		for _, m := range append(missing, sum.Cover.lacks(r.Name())...) {
			if n >= 20_000 {
				t.Errorf("never fired: %s", m)
			} else {
				t.Logf("not fired in so few worlds: %s", m)
			}
		}
	}
}
