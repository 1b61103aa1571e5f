package door_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A client that has read back a node of its own in a directory holds the next lock there after two answers, whose
// requests are sent together, and with any handle. With the optimization off every lock takes three.
func TestTheNextLockIsHeldWithTheListing(t *testing.T) {
	for name, c := range map[string]struct {
		off  bool
		want []int
	}{"on": {false, []int{3, 2, 2}}, "off": {true, []int{3, 3, 3}}} {
		if optimizations.Off(optimizations.OneFlight) && !c.off {
			continue
		}
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open(func(config *incumbent.Config) { config.Disable.OneFlight = c.off })
				must(n.Create("/lock", nil).Do(t.Context()))
				// one after another
				w.srv.Intercept(func(zkmem.Request) zkmem.Verdict { return zkmem.Verdict{Delay: time.Millisecond} })
				for i, want := range c.want {
					m := must(n.Client.Mutex("/lock", incumbent.MutexOptions{}))
					begun := time.Now()
					held := must(m.Lock(t.Context()))
					if took := int(time.Since(begun) / time.Millisecond); took != want {
						t.Errorf("lock %d took %d answers, want %d", i, took, want)
					}
					pass(10 * time.Millisecond) // the own node is read meanwhile
					fine(t, held.Unlock(t.Context()))
				}
			})
		})
	}
}

// If an operator takes the right to read nodes away, a lock in one flight is lost after a round trip, and its error
// names
// the code. The next one reads its node before it is held.
func TestALockWhoseNodeCannotBeRead(t *testing.T) {
	if optimizations.Off(optimizations.OneFlight) {
		return // then no lock is held before its node was read
	}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		m := must(n.Client.Mutex("/lock", incumbent.MutexOptions{}))
		fine(t, must(m.Lock(t.Context())).Unlock(t.Context()))
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpGetData && strings.HasPrefix(r.Path, "/lock/") {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.NoAuth}
			}
			return zkmem.Verdict{}
		})
		held := must(m.Lock(t.Context()))
		synctest.Wait()
		if err := held.Check(); incumbent.LostReason(err) != incumbent.ReasonUnreadable ||
			!strings.Contains(err.Error(), "NOAUTH") {
			t.Errorf("it is lost: %v", err)
		}
		_ = held.Unlock(t.Context())
		if _, err := m.Lock(t.Context()); !errors.Is(err, incumbent.ErrNoAuth) {
			t.Errorf("the next one: %v", err)
		}
	})
}
