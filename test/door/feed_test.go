package door_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// waitForNoMachine waits until no machine is left but the session's.
func (n *node) waitForNoMachine(t *testing.T, after string) {
	t.Helper()
	if left := n.machines(); left != 1 {
		t.Errorf("%s there are %d left", after, left-1)
	}
}

// The context's end is not yielded, however early it comes, with a connection and without;
// and no machine goes on watching.
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
					for c, err := range n.Watch(endsAfterTurns(t, turns), "/line", "n_") {
						if err != nil {
							t.Errorf("%s Watch yielded %v, %v", after, c, err)
						}
					}
					n.waitForNoMachine(t, after)
					for m, err := range n.WatchMembers(endsAfterTurns(t, turns), "/group") {
						if err != nil {
							t.Errorf("%s WatchMembers yielded %v, %v", after, m, err)
						}
					}
					n.waitForNoMachine(t, after)
				}
			})
		})
	}
}

// endsAfterTurns returns a context that ends soon: after a number of scheduler turns.
func endsAfterTurns(t *testing.T, turns int) context.Context {
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
