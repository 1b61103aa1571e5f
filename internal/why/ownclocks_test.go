package why

import (
	"strings"
	"testing"
)

// If the hosts' clocks are known to be right, times are shown by them; else by the clock of the ensemble's leader.
func TestTimesOfTheHostsOwnClocks(t *testing.T) {
	s := newSimulated(t, 3, false)
	for _, own := range []bool{false, true} {
		logs := s.logs(t)
		r := Explain(logs, s.txns, Options{OwnClocks: own})
		far := false
		for i, l := range r.Picture().Logs {
			for _, knot := range l.Clock {
				if off := knot[1] - logs[i].wall/micro - knot[0]; off > 1 || off < -1 {
					far = true
				}
			}
		}
		if far == own {
			t.Errorf("own clocks %t, and times are others: %t", own, far)
		}
		for _, d := range r.Doubts {
			if strings.Contains(d.Text, "times are UTC") == own {
				t.Errorf("own clocks %t: %s", own, d.Text)
			}
		}
	}
}
