package play

import (
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
)

// Random returns a script with some deeds, drawn from a seed: for tests.
func Random(seed int64) Script {
	d := world.NewDice(seed, "play")
	scenario := &scenarios[d.IntN(len(scenarios))]
	s := Script{Recipe: Recipes()[d.IntN(len(Recipes()))], Scenario: scenario.Name, Starting: 2 + d.IntN(3),
		Waiting: d.IntN(2), Seed: d.Int64N(MaxSeed), RideOut: world.OneIn(d, 3), Until: 45 * time.Second}
	if world.OneIn(d, 3) {
		s.Works = 3 * time.Second
	}
	for range 1 + d.IntN(6) {
		v := verbs[d.IntN(len(verbs))]
		deed := Deed{At: time.Duration(d.Int64N(40_000_000)) * time.Microsecond, Verb: v.Verb}
		switch v.To {
		case toParticipant:
			deed.Target = names[d.IntN(s.Starting+s.Waiting)]
		case toServer:
			deed.Target = scenario.Servers[d.IntN(len(scenario.Servers))]
		}
		if v.Lasts {
			deed.For = time.Duration(1+d.Int64N(micros(min(12*time.Second, scenario.deposed())))) * time.Microsecond
		}
		s.Deeds = append(s.Deeds, deed)
	}
	s.sort()
	return s
}
