package why

import (
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// drifting is more than the clocks of the simulation run apart.
const drifting = 20_000

// explainSim explains the logs of a world of test/worlds/sim.
func explainSim(t *testing.T, r sim.Result) *Report {
	t.Helper()
	var logs []*Log
	for i, records := range r.Logs {
		l, err := Read(fmt.Sprint("client", i), events.Header{}, &each{records})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, l)
	}
	return Explain(logs, nil, Options{MaxDrift: drifting})
}

// Clients that do not see the first in their line break the promise: that two lead at once is
// found out, whatever the clocks of their hosts.
func TestClientsThatBreakThePromise(t *testing.T) {
	n, seen := selection.Of(t, "worlds", 10, 15, 60), 0
	for seed := range uint64(n) {
		s := newSimulated(t, seed, true)
		if s.twoAtOnce() < time.Second {
			continue
		}
		seen++
		if r := Explain(s.logs(t), nil, Options{}); r.Verdict != TwoAtOnce {
			t.Errorf("world %d: %s: %s; two led for %s", seed, r.Verdict, r.Why, s.twoAtOnce())
		}
	}
	if seen < n/2 {
		t.Errorf("two led in %d of %d worlds", seen, n)
	}
}

// In worlds full of faults and of recipes, two have the right at once only where somebody else
// deleted nodes or replaced the data. (Then a leader believes until it hears of that.)
func TestWorldsFullOfFaults(t *testing.T) {
	verdicts := map[Verdict]int{}
	for seed := range int64(selection.Of(t, "worlds", 20, 25, 80)) {
		world := sim.Run(seed+1, sim.Options{Keep: true})
		r := explainSim(t, world)
		verdicts[r.Verdict]++
		if r.Verdict == TwoAtOnce && !nodesWereDeleted(world) {
			t.Errorf("world %d: %s", seed+1, r.Why)
		}
		if lines := r.Lines(false); len(lines) > mostLines {
			t.Errorf("world %d: %d lines", seed+1, len(lines))
		}
		r.Lines(true)
		r.Facts()
		if _, err := r.Trace(); err != nil {
			t.Error(err)
		}
	}
	t.Log(verdicts)
}

// nodesWereDeleted reports whether others deleted nodes, or replaced all data, in a world.
func nodesWereDeleted(r sim.Result) bool {
	for _, fault := range []string{"operator deletes a place", "operator deletes the line", "wiped", "restored",
		"ambush", "counter near its end", "counter repeats"} {
		if r.Cover.Faults[fault] > 0 {
			return true
		}
	}
	return false
}
