package door_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A client does not close while work on a shard has not returned: its node stays, and no other member works on it.
// The error names the function.
func TestCloseWaitsForTheWorkOnShards(t *testing.T) {
	shardBubble(t, 2, func(t *testing.T, w *shardWorld) {
		a := w.member("a", time.Hour, incumbent.ShardsOptions{})
		b := w.member("b", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := a.Close(ctx)
		if !errors.Is(err, incumbent.ErrWorkRunning) || !strings.Contains(err.Error(), "the work door_test.") {
			t.Errorf("Close, while work runs: %v", err)
		}
		w.srv.View(func(v *zkmem.View) {
			if n := len(v.Children(machines.ShardMembers(shardsPath))); n != 2 {
				t.Errorf("while work runs, there are %d members' nodes, want 2", n)
			}
		})
		w.mustOwn("while work runs", []int{0}, "b")
		select {
		case err := <-a.ended:
			t.Errorf("Run has ended while work runs: %v", err)
		default:
		}
		pass(time.Hour)
		if err := <-a.ended; !errors.Is(err, incumbent.ErrClosed) {
			t.Errorf("Run of a client that closes: %v", err)
		}
		w.mustOwn("when it has returned", []int{2}, "b")
		fine(t, a.Close(t.Context()))
		b.end(t)
	})
}
