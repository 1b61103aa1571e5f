package door_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// After a restart of the servers, n places in one line do not read n names each: only the leader and the next in line
// list it.
// The others read two nodes, and the line goes on as before: each leads in its turn.
func TestAfterARestartOnlyTwoListTheLine(t *testing.T) {
	const places = 12
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var all []*node
		for range places {
			all = append(all, w.start())
			pass(time.Second)
		}
		before, begun := w.srv.Counts().ByOp, make([]int, places)
		for i, n := range all {
			begun[i] = len(n.tape.Records())
			n.cutAsync()
		}
		synctest.Wait()
		pass(30 * time.Second)
		after := w.srv.Counts().ByOp
		if listings := after[zkmem.OpGetChildren] - before[zkmem.OpGetChildren] +
			after[zkmem.OpGetChildren2] - before[zkmem.OpGetChildren2]; listings != 2 {
			t.Errorf("%d listings of a line of %d, want those of the leader and the next in line", listings, places)
		}
		for i, n := range all[2:] {
			resumed := 0
			for _, r := range n.tape.Records()[begun[i+2]:] {
				if r.Machine == "latch-1" && r.From == "suspended" && r.To == "waiting" {
					resumed++
					if reads := len(r.Effects.Strings()); reads > 3 { // two reads and a timer
						t.Errorf("%d effects: %q", reads, r.Effects.Strings())
					}
				}
			}
			if resumed != 1 || n.latch.Phase() != "waiting" {
				t.Errorf("place %d waited again %d times, and is %s", i+2, resumed, n.latch.Phase())
			}
		}
		for i, n := range all {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			held, err := n.latch.Await(ctx)
			cancel()
			if err != nil {
				t.Fatalf("place %d does not lead in its turn: %v", i, err)
			}
			held.Release()
			if err := n.latch.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
