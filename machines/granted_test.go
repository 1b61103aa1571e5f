package machines

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
)

// A session that servers granted several timeouts may end by any of them. The shortest counts, until the
// next session. The client warns once.
func TestTheShortestTimeoutOfASessionCounts(t *testing.T) {
	const second = time.Second
	s := timing{tick: second}
	for i, step := range []struct {
		resumed         bool // it is no new session
		granted, counts time.Duration
		shortened       bool
		warned          bool
	}{
		{false, 9 * second, 9 * second, false, false},
		{true, 9 * second, 9 * second, false, false},
		{true, 20 * second, 9 * second, false, true},
		{true, 6 * second, 6 * second, true, true},
		{true, 20 * second, 6 * second, false, true},
		{false, 20 * second, 20 * second, false, true},
		{true, 10 * second, 10 * second, true, true},
	} {
		out := &engine.Outbox{}
		shortened := s.grant(step.granted, step.resumed, 1, out)
		if shortened != step.shortened || s.timeout != step.counts {
			t.Errorf("step %d: %s counts, shortened %t; want %s, %t", i, s.timeout, shortened, step.counts,
				step.shortened)
		}
		if s.timeoutsDiffer != step.warned {
			t.Errorf("step %d: warned %t, want %t", i, s.timeoutsDiffer, step.warned)
		}
	}
}
