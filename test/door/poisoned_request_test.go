package door_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Requests that are larger than the server takes, so that it closes the connection: they fail after some tries, by an
// error that names them, and other handles of the client keep their places and lead on.
func TestRequestsLargerThanTheServerTakes(t *testing.T) {
	for _, most := range selection.Some(t, "limits", 1, 2, []int{16 << 10, 1 << 20}) {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			bubble(t, zkmem.Options{MaxFrame: most}, func(t *testing.T, w *world) {
				a := w.start(timeouts(6*time.Second, 2*time.Second),
					func(c *incumbent.Config) { c.MaxRequest = 8 << 20 })
				must(a.latch.Await(t.Context())).Release()
				b := w.start(timeouts(6*time.Second, 2*time.Second))
				big := make([]byte, 3*most)
				own, session := a.ownPath(), a.SessionID()
				node := must(a.PersistentNode("/big", big, incumbent.PersistentNodeOptions{}))
				fails(t, node.Start())
				queue := must(incumbent.NewQueue(a.Client, "/queue",
					incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				names(t, queue.Put(ctx, string(big)), "/queue/queue-", len(big))
				names(t, node.WaitPresent(ctx), "/big", len(big))
				before, led := w.srv.Counts().Handshakes, 0
				for range 600 {
					if pass(time.Second); a.latch.HasLeadership() {
						led++
					}
				}
				if more := w.srv.Counts().Handshakes - before; more > 10 {
					t.Errorf("%d connections in ten minutes", more)
				}
				if led < 590 || a.ownPath() != own || a.SessionID() != session || b.latch.HasLeadership() {
					t.Errorf("it led for %d of 600 s, its place is %s, was %s\n%s", led, a.ownPath(), own,
						a.tape.Tail(30))
				}
				names(t, node.Err(), "/big", len(big))
				fails(t, node.Close(t.Context()))
				must(a.Create("/small", big[:most/2]).Do(t.Context()))
			})
		})
	}
}

// names checks that an error is the refusal of a request, and has its path, its size, and the setting.
func names(t *testing.T, err error, path string, size int) {
	t.Helper()
	text := fmt.Sprint(err)
	for _, want := range []string{path, "bytes", "Config.MaxRequest", "jute.maxbuffer"} {
		if err == nil || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(text, want) {
			t.Errorf("the error has no %q: %v", want, err)
		}
	}
	said := 0
	if _, after, found := strings.Cut(text, "this request of "); found {
		_, _ = fmt.Sscan(after, &said)
	}
	if said < size || said > size+4096 {
		t.Errorf("the error says %d bytes, of %d that are written: %v", said, size, err)
	}
}

// A large request is answered after connections that ended for another reason: it is not suspected any more, and none
// fails.
func TestALargeRequestOverBadConnections(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		a := w.open(timeouts(6*time.Second, 2*time.Second))
		cuts := 0
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Op == zkmem.OpCreate && cuts < 3 {
				cuts++
				v.Action = zkmem.CutBefore
			}
			return v
		})
		node := must(a.PersistentNode("/big", make([]byte, 500_000), incumbent.PersistentNodeOptions{}))
		fails(t, node.Start())
		fails(t, node.WaitPresent(within(t, time.Minute)))
	})
}
