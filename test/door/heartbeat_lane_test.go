package door_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// slowLink reads 64 bytes in a millisecond: half an answer.
type slowLink struct{ net.Conn }

func (l slowLink) Read(b []byte) (int, error) {
	virtual.Sleep(time.Millisecond)
	return l.Conn.Read(b[:min(len(b), 64)])
}

// TestTheHeartbeatGoesPastStartingLatches shows the heartbeat's own lane of promise 4: over
// a slow link, while thousands of latches start, a heartbeat is sent within T/16 of its
// time.
func TestTheHeartbeatGoesPastStartingLatches(t *testing.T) {
	const timeout = 4 * time.Second
	crowd := selection.Of(t, "latches", 600, 600, 1000)
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start(timeouts(timeout, 2*time.Second), func(c *incumbent.Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return slowLink{conn}, err
			}
		})
		pass(time.Second)
		lost := 0
		n.latch.AddListener(incumbent.Listener{NotLeader: func(incumbent.Term, error) { lost++ }})
		var latches []*incumbent.Latch
		for i := range crowd {
			l, err := n.Latch(fmt.Sprintf("/crowd/%d", i), incumbent.LatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
			latches = append(latches, l)
		}
		for _, l := range latches {
			go func() { _ = l.Start() }()
		}
		synctest.Wait()
		pass(time.Minute)
		for _, l := range latches {
			if !l.HasLeadership() {
				t.Fatal(l.Phase(), l.Err())
			}
		}
		if lost != 0 {
			t.Fatalf("leadership lapsed %d times", lost)
		}
		beats, worst := 0, time.Duration(0) // while latches were still starting
		within, slowest := 0, time.Duration(0)
		due := map[uint64]int64{}
		for _, r := range n.tape.Records() {
			switch {
			case r.From == "listing" && r.To == "leading":
				beats, worst = within, slowest
			case r.Machine == events.SessionMachine && r.Event.Kind == events.TimerFired:
				due[r.Seq] = r.Event.At
			case r.Event.Kind == events.ReplyMulti && due[r.Cause] != 0:
				within++
				slowest = max(slowest, time.Duration(r.Event.SentAt-due[r.Cause]))
			}
		}
		t.Logf("%d heartbeats, the latest left %s after it was due", beats, worst)
		if beats < 5 || worst > timeout/16 {
			t.Errorf("%d heartbeats, the latest left %s after it was due, want %s at most", beats, worst, timeout/16)
		}
	})
}
