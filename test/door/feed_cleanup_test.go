package door_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// holdReplies keeps answers to reads of paths with this prefix, and all requests behind
// them, until release is called.
func (w *world) holdReplies(prefix string) (release func()) {
	held := make(chan struct{})
	remove := w.srv.Intercept(func(q zkmem.Request) zkmem.Verdict {
		if strings.HasPrefix(q.Path, prefix) {
			return zkmem.Verdict{Wait: held}
		}
		return zkmem.Verdict{}
	})
	return func() {
		remove()
		close(held)
		synctest.Wait()
	}
}

// createChildren makes a node with so many children, by their numbers.
func (w *world) createChildren(path string, children int) {
	w.t.Helper()
	paths := []string{path}
	for i := range children {
		paths = append(paths, fmt.Sprintf("%s/%d", path, i))
	}
	for _, path := range paths {
		if _, err := w.srv.Create(path, nil, zkmem.Persistent); err != nil {
			w.t.Fatal(err)
		}
	}
}

// watchCount returns how many watches the server has after the client's next reconnect.
func (n *node) watchCount() (count int) {
	n.cut()
	pass(5 * time.Second)
	n.w.srv.View(func(v *zkmem.View) { count = v.WatchCount() })
	return count
}

// Loops over feeds that are left while their requests wait to be sent: those that wait are
// not sent, and nothing of those that were sent is armed at the next connection.
func TestFeedsThatAreLeftLeaveNothingBehind(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		w.createChildren("/w", 400)
		synctest.Wait()
		release := w.holdReplies("/w/")
		ctx, leave := context.WithCancel(t.Context())
		for i := range 400 {
			go func() {
				for range n.WatchNode(ctx, fmt.Sprintf("/w/%d", i)) {
					continue
				}
			}()
		}
		go func() {
			for range n.WatchChildren(t.Context(), "/") { // one that stays
				continue
			}
		}()
		synctest.Wait()
		w.srv.ResetCounts()
		leave()
		synctest.Wait()
		release()
		if asked := w.srv.Counts().ByOp[zkmem.OpGetData]; asked > 64 {
			t.Errorf("%d reads left, and no more than a window's 64 had before the loops were left", asked)
		}
		if count := n.watchCount(); count != 1 {
			t.Errorf("%d watches, want that of the loop that stays", count)
		}
		late := n.tape.Count(func(r events.Record) bool {
			return r.Row == events.RowUnknown &&
				r.Event.Kind == events.ReplyStat
		})
		if late != 0 {
			t.Errorf("%d answers were for machines that are over", late)
		}
	})
}

// A cache that is closed while it reads.
func TestATreeCacheThatIsClosedWhileItReads(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		w.createChildren("/t", 200)
		for range 3 {
			synctest.Wait()
			release := w.holdReplies("/t/")
			cache, err := n.TreeCache("/t", incumbent.TreeCacheOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := cache.Start(); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if err := cache.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			release()
			if count := n.watchCount(); count != 0 {
				t.Errorf("%d watches of a cache that was closed", count)
			}
		}
	})
}
