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
	s := session{tick: second}
	for i, step := range []struct {
		id              int64 // 0: a new session
		granted, counts time.Duration
		shortened       bool
		warned          bool
	}{
		{0, 9 * second, 9 * second, false, false},
		{1, 9 * second, 9 * second, false, false},
		{1, 20 * second, 9 * second, false, true},
		{1, 6 * second, 6 * second, true, true},
		{1, 20 * second, 6 * second, false, true},
		{0, 20 * second, 20 * second, false, true},
		{1, 10 * second, 10 * second, true, true},
	} {
		out := &engine.Outbox{}
		s.id = step.id
		if shortened := s.grant(step.granted, out); shortened != step.shortened || s.timeout != step.counts {
			t.Errorf("step %d: %s counts, shortened %t; want %s, %t", i, s.timeout, shortened, step.counts,
				step.shortened)
		}
		if s.timeoutsDiffer != step.warned {
			t.Errorf("step %d: warned %t, want %t", i, s.timeoutsDiffer, step.warned)
		}
	}
}
