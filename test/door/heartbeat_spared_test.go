package door_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// heartbeatsAndGap returns how many heartbeats a client has sent, and the longest time between two requests
// that confirmed.
func (n *node) heartbeatsAndGap(after int64) (sent int, gap time.Duration) {
	last := after
	for _, r := range n.tape.Records() {
		if r.Machine != events.SessionMachine || r.Event.At < after {
			continue
		}
		for _, e := range r.Effects.Strings() {
			if strings.Contains(e, "multi {check") {
				sent++
			}
		}
		if confirms := r.Event.Kind == events.ConnectionConfirmed || r.Event.Kind == events.ReplyMulti; confirms &&
			r.Event.SentAt > last {
			gap, last = max(gap, time.Duration(r.Event.SentAt-last)), r.Event.SentAt
		}
	}
	return sent, gap
}

// TestALeaderThatWritesSendsNoHeartbeats shows that guarded writes take the heartbeats' place, and check the
// own node as well. Writes of others in the same session take the place of some: the own node is
// checked each half timeout.
func TestALeaderThatWritesSendsNoHeartbeats(t *testing.T) {
	const timeout, period = 16 * time.Second, 4 * time.Second
	for name, test := range map[string]struct {
		write func(context.Context, *node, *incumbent.Leadership) error
		want  int
	}{
		"no writes": {func(context.Context, *node, *incumbent.Leadership) error { return nil }, 15},
		"guarded writes": {func(ctx context.Context, _ *node, l *incumbent.Leadership) error {
			_, err := l.Write(ctx, incumbent.SetData("/data", nil, incumbent.AnyVersion))
			return err
		}, 0},
		"other writes": {func(ctx context.Context, n *node, _ *incumbent.Leadership) error {
			_, err := n.Set("/data", nil).Do(ctx)
			return err
		}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.start(timeouts(timeout, 2*time.Second))
				l := n.leads()
				if _, err := n.Create("/data", nil).Do(t.Context()); err != nil {
					t.Fatal(err)
				}
				begun := w.now()
				for range 60 {
					pass(time.Second)
					if err := test.write(t.Context(), n, l); err != nil {
						t.Fatal(err)
					}
				}
				sent, gap := n.heartbeatsAndGap(begun)
				t.Logf("%d heartbeats in a minute, %s at most between two requests that confirm", sent, gap)
				if sent > test.want || sent < test.want-1 || gap > period {
					t.Errorf("want %d heartbeats, and %s", test.want, period)
				}
				if err := l.Check(); err != nil {
					t.Error(err)
				}
				l.Release()
			})
		})
	}
}
