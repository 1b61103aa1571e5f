package small

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
)

// strikes returns every strike of these kinds at the writes of one process.
func strikes(t *testing.T, process, least int, kinds ...sim.StrikeKind) (all []sim.Strike) {
	t.Helper()
	never := sim.Strike{Client: process, Write: 1 << 30, How: sim.CutAfter}
	writes := playJob(never, nil).Writes
	if writes < least {
		t.Errorf("process %d sends %d writes, fewer than %d: too little happens", process, writes, least)
	}
	for write := 1; write <= writes; write++ {
		for _, how := range kinds {
			all = append(all, sim.Strike{Client: process, Write: write, How: how})
		}
	}
	return all
}

func playJob(s sim.Strike, plant *sim.Plant) sim.Result {
	plan := sim.StruckJob(s)
	return sim.Run(plan.Seed, sim.Options{Plan: plan, Plant: plant})
}

// TestAJobStruckAtEachWrite: a job goes on whichever write of its leader, or of a worker, is the last one of the
// process, or of its connection. (A worker that is killed before a write has written what one had that was killed after
// the write before.)
func TestAJobStruckAtEachWrite(t *testing.T) {
	all := slices.Concat(
		strikes(t, sim.StruckLeader, 20, sim.StrikeKinds...),
		strikes(t, sim.StruckWorker, 8, sim.KillAfter, sim.CutAfter),
	)
	for _, s := range selection.Some(t, "strikes", 4, 8, all) {
		r := playJob(s, nil)
		if !r.Struck {
			t.Errorf("%+v: the strike never came", s)
		}
		for _, broken := range r.Broken {
			t.Errorf("process %d, write %d, %s: %s: %s", s.Client, s.Write, s.How, broken.Check, broken.Text)
		}
	}
}

// TestPlantsInAJob: a strike finds each of these bugs.
func TestPlantsInAJob(t *testing.T) {
	type bug struct {
		plant   string
		process int
		how     sim.StrikeKind
	}
	for _, c := range selection.Some(t, "bugs", 0, 1, []bug{
		{"job dealer: what was flagged before its term", sim.StruckLeader, sim.KillAfter},
		{"job worker: what a lost reply hides is not read", sim.StruckWorker, sim.CutAfter},
	}) {
		plants := sim.Plants()
		plant := &plants[slices.IndexFunc(plants, func(p sim.Plant) bool { return strings.HasPrefix(p.Name, c.plant) })]
		found := slices.ContainsFunc(strikes(t, c.process, 8, c.how), func(s sim.Strike) bool {
			return len(playJob(s, plant).Broken) > 0
		})
		if !found {
			t.Errorf("no strike finds the plant %q", plant.Name)
		}
	}
}
