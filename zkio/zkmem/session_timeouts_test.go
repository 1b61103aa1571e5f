package zkmem

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// Servers of one ensemble may have different limits. A session that comes back is granted what the limits are by then,
// and that counts for its end.
func TestLimitsOfSessionTimeouts(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{Tick: time.Second, MinSessionTimeout: 3 * time.Second, MaxSessionTimeout: 5 * time.Second})
		defer s.Close()
		for asked, want := range map[time.Duration]time.Duration{time.Second: 3 * time.Second,
			4 * time.Second: 4 * time.Second, time.Hour: 5 * time.Second} {
			if c := newSession(t, s, asked); c.timeout != milliseconds(want) {
				t.Errorf("asked for %s, granted %d ms", asked, c.timeout)
			}
		}
		c := newSession(t, s, 4*time.Second)
		for _, limit := range []time.Duration{9 * time.Second, 2 * time.Second} {
			s.SetSessionTimeouts(limit, limit)
			if c = c.again(s); c.timeout != milliseconds(limit) {
				t.Errorf("came back to a server that grants %s, granted %d ms", limit, c.timeout)
			}
		}
		start := time.Now()
		if c.gone(); time.Since(start) > 3*time.Second {
			t.Errorf("a session of 2s ended after %s of silence", time.Since(start))
		}
	})
}
