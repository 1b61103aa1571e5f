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
					pass(60 * time.Millisecond) // the own node is read meanwhile
					fine(t, held.Unlock(t.Context()))
				}
			})
		})
	}
}

// A cycle takes three requests: a lock that is released within 50 ms does not read its node. One that is held for
// longer does, once, and is lost when the node is deleted.
func TestALockThatEndsSoonIsNotWatched(t *testing.T) {
	if optimizations.Off(optimizations.OneFlight) {
		return // then every lock has read its node
	}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		m := must(n.Client.Mutex("/lock", incumbent.MutexOptions{}))
		fine(t, must(m.Lock(t.Context())).Unlock(t.Context()))
		var sent []zkmem.OpCode
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if strings.HasPrefix(r.Path, "/lock") {
				sent = append(sent, r.Op)
			}
			return zkmem.Verdict{}
		})
		held := must(m.Lock(t.Context()))
		pass(49 * time.Millisecond)
		fine(t, held.Unlock(t.Context()))
		pass(time.Second)
		if len(sent) != 3 {
			t.Errorf("a short cycle sent %v, want a create, a listing and a deletion", sent)
		}
		sent = nil
		held = must(m.Lock(t.Context()))
		pass(50 * time.Millisecond)
		if len(sent) != 3 || sent[2] != zkmem.OpGetData {
			t.Errorf("a lock that is held sent %v, want a create, a listing and a read", sent)
		}
		fine(t, w.srv.Delete(held.Term().Path))
		synctest.Wait()
		if err := held.Check(); incumbent.LostReason(err) != incumbent.ReasonDeleted {
			t.Errorf("after the deletion: %v", err)
		}
		_ = held.Unlock(t.Context())
	})
}

// If an operator takes the right to read nodes away, a lock in one flight is lost after 50 ms, and its error names the
// code. The next one reads its node before it is held.
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
		pass(50 * time.Millisecond)
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
