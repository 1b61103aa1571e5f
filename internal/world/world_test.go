package world

import (
	"math/rand/v2"
	"testing"
)

// TestTheQueueKeepsOrder checks that moments come out by their time, and in the order in which they were put in if
// they have the same time.
func TestTheQueueKeepsOrder(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 2))
	var q eventQueue
	last, in, out := moment{at: -1}, uint64(0), uint64(0)
	for in < 5000 || len(q) > 0 {
		if in < 5000 && (len(q) == 0 || d.IntN(5) < 3) {
			in++
			q.push(moment{at: max(last.at, 0) + d.Int64N(20), order: in})
			continue
		}
		m := q.pop()
		if out++; m.before(last) {
			t.Fatalf("moment %d of time %d came after %d of %d", m.order, m.at, last.order, last.at)
		}
		last = m
	}
	if out != in {
		t.Errorf("%d moments went in, and %d came out", in, out)
	}
}
