package incumbent

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A feed uses several machines. If the client begins to close between the first and the
// last of them, those that were opened are closed, and the loop gets the error.
func TestAFeedThatOpensHalfWayLeavesNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		closing := func(on bool) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.closing = on
		}
		look := func(f *feed[string]) error {
			return f.watch(machines.MembershipRecipe.Name(), events.Event{Path: "/group"},
				func(events.Notify, zkio.Kept) {})
		}
		var errs []error
		for _, err := range stream(t.Context(), n.Client, func(f *feed[string]) error {
			if err := look(f); err != nil {
				t.Error(err)
			}
			closing(true)
			return look(f)
		}) {
			errs = append(errs, err)
		}
		closing(false)
		if len(errs) != 1 || !errors.Is(errs[0], ErrClosed) {
			t.Errorf("got %v, want ErrClosed, once", errs)
		}
		synctest.Wait()
		n.mu.Lock()
		defer n.mu.Unlock()
		if len(n.handles) != 1 {
			t.Errorf("half-way there are left: %v", n.handles)
		}
	})
}

// kept returns how many answers the client's watch handles hold.
func (n *node) kept() (count int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, r := range n.handles {
		if o, ok := r.(*watchHandle); ok {
			o.mu.Lock()
			count += len(o.kept)
			o.mu.Unlock()
		}
	}
	return count
}

// Two feeds of one client watch the same node: an event for one comes while the other
// reads, so that the answer is old before it is used. It is dropped after a later one was
// used: new data, or the deletion of the node.
func TestFeedsKeepNoOldAnswers(t *testing.T) {
	const times = 200
	for name, goes := range map[string]bool{"new data": false, "the node goes": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				ctx, cancel := context.WithCancel(t.Context())
				var watching sync.WaitGroup
				defer watching.Wait()
				defer cancel()
				for range 2 {
					watching.Go(func() {
						for _, err := range n.WatchNode(ctx, "/n") {
							if err != nil {
								t.Error(err)
							}
						}
					})
				}
				synctest.Wait()
				must := func(err error) {
					if err != nil {
						t.Error(err)
					}
				}
				reads := 0
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op == zkmem.OpGetData {
						switch reads++; {
						case reads == 2: // the first feed's read is done, with a watch
							must(w.srv.Set("/n", nil))
						case reads == 3 && goes: // both have to read again
							must(w.srv.Delete("/n"))
						}
					}
					return zkmem.Verdict{}
				})
				for range times {
					reads = 0
					_, err := w.srv.Create("/n", nil, zkmem.Persistent)
					must(err)
					synctest.Wait()
					if !goes {
						must(w.srv.Delete("/n"))
						synctest.Wait()
					}
				}
				late := n.tape.Count(func(r events.Record) bool {
					return r.Event.Kind == events.ReplyStat && r.Event.Code == events.OK && r.Row == events.RowLate
				})
				if late < times {
					t.Fatalf("%d answers were old, of %d: the test shows nothing", late, times)
				}
				if left := n.kept(); left != 0 {
					t.Errorf("%d answers were old, and %d are kept", late, left)
				}
			})
		})
	}
}
