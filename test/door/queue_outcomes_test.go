package door_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A queue that put something has a node of its own. If that cannot be deleted, Close says so.
func TestAQueueThatIsClosedWithoutAConnectionSaysWhatIsLeft(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q := must(incumbent.NewQueue(n.Client, "/q",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), Bound: incumbent.WaitAt(10)}))
		fine(t, q.Put(t.Context(), "x"))
		w.refuse(n, true)
		n.cut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(ctx); !errors.Is(err, incumbent.ErrNotDeleted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
	})
}

// An item that another client deletes between the listing and the removal was not removed by this call.
func TestRemoveCountsOnlyWhatItRemoved(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		ids := must(incumbent.NewIDQueue(n.Client, "/ids",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/locks"}))
		for _, id := range []string{"first", "taken", "taken"} {
			fine(t, ids.ID(id).Put(t.Context(), "x"))
		}
		// the directory of the locks is there now
		if removed, err := ids.Remove(t.Context(), "first"); removed != 1 || err != nil {
			t.Errorf("%d, %v", removed, err)
		}
		items := w.children("/ids")
		var other atomic.Bool
		stop := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti && other.CompareAndSwap(false, true) {
				for _, item := range items {
					if err := w.srv.Delete("/ids/" + item); err != nil {
						t.Error(err)
					}
				}
			}
			return zkmem.Verdict{}
		})
		defer stop()
		if removed, err := ids.Remove(t.Context(), "taken"); removed != 0 || err != nil || !other.Load() {
			t.Errorf("%d, %v", removed, err)
		}
	})
}

// A removal that fails returns how many items it has deleted before. One of which no reply says so does not count.
func TestARemovalThatFailsReturnsItsCount(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		ids := must(incumbent.NewIDQueue(n.Client, "/ids",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/locks"}))
		for range 4 {
			fine(t, ids.ID("a").Put(t.Context(), "x"))
		}
		multis := 0
		stop := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			if r.Op == zkmem.OpMulti {
				if multis++; multis == 4 { // the first finds no directory of locks
					return zkmem.Verdict{Action: zkmem.CutAfter}
				}
			}
			return zkmem.Verdict{}
		})
		defer stop()
		if removed, err := ids.Remove(t.Context(), "a"); removed != 2 || !errors.Is(err, incumbent.ErrOutcomeUnknown) {
			t.Errorf("%d, %v", removed, err)
		}
		if removed, err := ids.Remove(t.Context(), "a"); removed != 1 || err != nil {
			t.Errorf("again: %d, %v", removed, err)
		}
		for _, id := range []string{"\x00", "\xff", "\n"} {
			if removed, err := ids.Remove(t.Context(), id); removed != 0 || err != nil {
				t.Errorf("%q: %d, %v", id, removed, err)
			}
		}
	})
}
