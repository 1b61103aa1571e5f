package sim

import (
	"os"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/internal/world"
)

// TestServerWorlds runs worlds of every kind of ensemble and of faults of servers that has
// worlds of its own. Every world keeps every promise, and what the kind is about has happened.
func TestServerWorlds(t *testing.T) {
	n := howMany(t, "worlds of every kind of servers", 3, 5, 30)
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

// TestPlantsNeedTheirServers checks that the recorded worlds of these bugs find them only because of what their kind of
// servers does, and the one of the tick only without the slack: else nothing is broken there.
func TestPlantsNeedTheirServers(t *testing.T) {
	b, err := os.ReadFile("testdata/plants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := ReadPlants(b)
	if err != nil {
		t.Fatal(err)
	}
	all := Plants()
	plant := func(name string) Plant {
		return all[slices.IndexFunc(all, func(p Plant) bool { return p.Name == name })]
	}
	standstill := plant("a standstill of up to half a timeout is no silence")
	masters := plant("an observer behind an observer master reports in one step")
	known := masters
	known.Configured = nil
	small := plant("a tick that is a fifth too small, and no slack")
	slack, right := small, small
	slack.Mutations = nil
	right.Configured = func(l *world.Layout) { l.Tick = 0 } // that of the servers
	for _, c := range []struct {
		bug, without Plant
		faults       []string // taken out
	}{
		{standstill, standstill, []string{stillThenCut, stillGivenUp, leaderStillCut, leaderStillOut}},
		{small, slack, nil},
		{small, right, nil},
		{masters, known, nil}, // the clients know the observer masters, and what else the plant changes is there
	} {
		i := slices.IndexFunc(recorded, func(f Found) bool { return f.Plant == c.bug.Name })
		if i < 0 {
			t.Fatalf("no world is on record for %q: make plants", c.bug.Name)
		}
		if r := Run(recorded[i].Seed, Options{Plant: &c.bug}); len(r.Broken) == 0 ||
			r.Broken[0].Check != recorded[i].Check {
			t.Errorf("%q does not break %q in world %d any more: make plants", c.bug.Name, recorded[i].Check,
				recorded[i].Seed)
		}
		for _, broken := range Run(recorded[i].Seed, Options{Plant: &c.without, Without: c.faults}).Broken {
			t.Errorf("%q is found in world %d without its kind of servers, too: %s", c.bug.Name,
				recorded[i].Seed, broken)
		}
	}
}
