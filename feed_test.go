package incumbent

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lonely wants no machine left but the session's.
func (n *node) lonely(t *testing.T, after string) {
	t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.handles) != 1 {
		t.Errorf("%s there are left: %v", after, n.handles)
	}
}

// The context's end is not told, however early it comes, with a connection and
// without; and no machine goes on looking.
func TestAFeedEndsWithItsContextInSilence(t *testing.T) {
	for _, connected := range []bool{true, false} {
		t.Run(fmt.Sprintf("connected=%t", connected), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.open()
				if synctest.Wait(); !connected {
					w.refuse(n, true)
					n.cut()
				}
				for turns := range 20 {
					after := fmt.Sprintf("after %d turns", turns)
					for c, err := range n.Watch(fading(t, turns), "/line", "n_") {
						if err != nil {
							t.Errorf("%s Watch told %v, %v", after, c, err)
						}
					}
					n.lonely(t, after)
					for m, err := range n.WatchMembers(fading(t, turns), "/group") {
						if err != nil {
							t.Errorf("%s WatchMembers told %v, %v", after, m, err)
						}
					}
					n.lonely(t, after)
				}
			})
		})
	}
}

// fading is a context that ends soon: after others have had so many turns.
func fading(t *testing.T, turns int) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	if turns == 0 {
		cancel()
		return ctx
	}
	go func() {
		defer cancel()
		for range turns {
			runtime.Gosched()
		}
	}()
	return ctx
}

// A feed looks with several machines. When the client begins to close between the
// first and the last of them, those that were made are over, and the loop is told.
func TestAFeedThatOpensHalfWayLeavesNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		closing := func(on bool) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.closing = on
		}
		look := func(f *feed[string]) error {
			return f.look(machines.MembershipRecipe.Name(), events.Event{Path: "/group"}, func(events.Notify, zkio.Kept) {})
		}
		var told []error
		for _, err := range stream(t.Context(), n.Client, func(f *feed[string]) error {
			if err := look(f); err != nil {
				t.Error(err)
			}
			closing(true)
			return look(f)
		}) {
			told = append(told, err)
		}
		closing(false)
		if len(told) != 1 || !errors.Is(told[0], ErrClosed) {
			t.Errorf("told %v, want ErrClosed, once", told)
		}
		n.lonely(t, "half-way")
	})
}
