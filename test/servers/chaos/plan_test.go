package chaos

import (
	"testing"
	"time"
)

var usualTerms = terms{session: 4 * time.Second, patient: 10 * time.Second}

func TestASeedDrawsItsPlan(t *testing.T) {
	plans := map[string]bool{}
	for seed := range uint64(20) {
		p := draw(seed, 10*time.Minute, usualTerms, slots, len(everybody))
		if again := draw(seed, 10*time.Minute, usualTerms, slots, len(everybody)); again.String() != p.String() {
			t.Errorf("seed %d draws now\n%s\nnow\n%s", seed, p, again)
		}
		if plans[p.String()] {
			t.Errorf("seed %d draws another seed's plan", seed)
		}
		plans[p.String()] = true
		for _, want := range kindsOfFaults() {
			if p.has(want) == 0 {
				t.Errorf("seed %d never tries to %s in ten minutes", seed, want)
			}
		}
		for _, list := range [][]fault{p.servers, p.clients} {
			end := time.Duration(0)
			for _, f := range list {
				if f.At < end || f.For <= 0 || f.At+f.For > 10*time.Minute {
					t.Errorf("seed %d: %s begins before the last one ended, or ends too late", seed, f)
				}
				end = f.At + f.For
			}
		}
	}
}
