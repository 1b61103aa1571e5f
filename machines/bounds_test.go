package machines

import (
	"testing"
	"time"
)

// The figures are those of docs/promises.md and docs/belief.md.
func TestBounds(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		timeout, tick time.Duration
		want          Bounds
	}{
		{15 * time.Second, 3 * time.Second,
			Bounds{7500 * ms, 7500 * ms, 3750 * ms, false, 2750 * ms, 21 * time.Second}},
		{4 * time.Second, 3 * time.Second,
			Bounds{1066666667, 1866666667, 533333333, false, 1233333333, 10 * time.Second}},
		{45 * time.Second, 3 * time.Second, Bounds{22500 * ms, 22500 * ms, 5625 * ms, true, 0, 51 * time.Second}},
	} {
		if got := BoundsOf(c.timeout, c.tick, 5, false); got != c.want {
			t.Errorf("%s with a tick of %s: %+v, want %+v", c.timeout, c.tick, got, c.want)
		}
	}
	if got := BoundsOf(4*time.Second, 3*time.Second, 5, true).First; got > 0 {
		t.Errorf("behind an observer master belief lasts %s, want none", got)
	}
}
