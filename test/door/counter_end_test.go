package door_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestALineWhoseNumbersEnd has a leader in a line whose sequence numbers end behind it. It leads
// on. The next participant says why it cannot lead, and leaves no node behind. When the leader
// has left, the server reaps the empty directory, and the numbers begin again: nobody has to
// do anything. In a directory that stays, the line waits for an operator.
func TestALineWhoseNumbersEnd(t *testing.T) {
	for _, stays := range []bool{false, true} {
		bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
			if stays {
				_, err := w.srv.Create("/line", nil, zkmem.Persistent)
				fine(t, err)
			}
			a := w.start()
			held, err := a.latch.Await(t.Context())
			fine(t, err)
			fine(t, w.srv.SetSequence("/line", math.MaxInt32-1000))
			b := w.start()
			pass(10 * time.Minute)
			if !a.latch.HasLeadership() || !errors.Is(b.latch.Err(), incumbent.ErrCounterEnd) ||
				len(w.children("/line")) != 1 {
				t.Fatalf("the leader leads %t; the next says %v; in line: %v", a.latch.HasLeadership(), b.latch.Err(),
					w.children("/line"))
			}
			held.Release()
			fine(t, a.latch.Close(t.Context()))
			pass(10 * time.Minute)
			if stays {
				if b.latch.HasLeadership() || !errors.Is(b.latch.Err(), incumbent.ErrCounterEnd) {
					t.Fatalf("it leads %t in a directory that is used up: %v", b.latch.HasLeadership(), b.latch.Err())
				}
				fine(t, w.srv.Delete("/line"))
				pass(10 * time.Minute)
			}
			if line := w.children("/line"); !b.latch.HasLeadership() || len(line) != 1 ||
				!strings.HasSuffix(line[0], "-latch-0000000000") {
				t.Errorf("with a directory that stays %t: it leads %t (%v), in line: %v", stays,
					b.latch.HasLeadership(), b.latch.Err(), line)
			}
		})
	}
}
