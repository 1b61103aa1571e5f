package incumbent

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A queue that put something has a node of its own. If that cannot be deleted, Close says so.
func TestAQueueThatIsClosedWithoutAConnectionSaysWhatIsLeft(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q := must(NewQueue(n.Client, "/q", QueueOptions[string]{Codec: Text(), Bound: WaitAt(10)}))
		fine(t, q.Put(t.Context(), "x"))
		w.refuse(n, true)
		n.cut()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.Close(ctx); !errors.Is(err, ErrNotDeleted) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close: %v", err)
		}
	})
}

// An item that another client deletes between the listing and the removal was not removed by this call.
func TestRemoveCountsOnlyWhatItRemoved(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		ids := must(NewIDQueue(n.Client, "/ids", QueueOptions[string]{Codec: Text(), LockPath: "/locks"}))
		for _, id := range []string{"first", "taken", "taken"} {
			fine(t, ids.ID(id).Put(t.Context(), "x"))
		}
		if removed, err := ids.Remove(t.Context(), "first"); removed != 1 || err != nil { // the directory of the locks is there now
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

// The command of a put has the number of its items and of their bytes, next to its own options, which stay as they are.
func TestPutCommandsCountItemsAndBytes(t *testing.T) {
	options := map[string]string{"priority": "3"}
	for _, c := range []struct {
		nodes        [][]byte
		items, bytes string
	}{
		{[][]byte{[]byte("abc"), []byte("de"), nil}, "3", "5"},
		{[][]byte{nil}, "1", "0"},
	} {
		got := putCommand(7, c.nodes, options)
		want := map[string]string{"priority": "3", "items": c.items, "bytes": c.bytes}
		if got.Kind != events.CommandPut || got.Work != 7 || !maps.Equal(got.Options, want) {
			t.Errorf("%+v, want the options %v", got, want)
		}
	}
	if len(options) != 1 {
		t.Errorf("the options were changed: %v", options)
	}
}
