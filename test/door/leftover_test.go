package door_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// abandonedAttempts are attempts to get a place, with the directory in which it would be. Each ends when the context
// does.
var abandonedAttempts = map[string]struct {
	dir     string
	attempt func(ctx context.Context, n *node) error
}{
	"latch": {"/l", func(ctx context.Context, n *node) error {
		l := must(n.Latch("/l", incumbent.LatchOptions{}))
		if err := l.Start(); err != nil {
			return err
		}
		<-ctx.Done()
		return l.Close(context.WithoutCancel(ctx))
	}},
	"mutex": {"/l", func(ctx context.Context, n *node) error {
		_, err := must(n.Mutex("/l", incumbent.MutexOptions{})).Lock(ctx)
		return unless(err != nil)
	}},
	"kazoo": {"/l", func(ctx context.Context, n *node) error {
		_, err := must(n.Mutex("/l", incumbent.MutexOptions{Kazoo: true})).Lock(ctx)
		return unless(err != nil)
	}},
	"writer": {"/l", func(ctx context.Context, n *node) error {
		_, err := must(n.ReadWriteLock("/l", incumbent.MutexOptions{})).Lock(ctx)
		return unless(err != nil)
	}},
	"semaphore": {"/l/locks", func(ctx context.Context, n *node) error {
		_, err := must(n.Semaphore("/l", 1, incumbent.SemaphoreOptions{})).Acquire(ctx, 1)
		return unless(err != nil)
	}},
}

// A server answers a create by a code that says nothing, and creates the node when the caller has given up and a
// listing has
// shown none. The node is deleted, and the log says so. A node that the client has created for its user stays.
func TestANodeThatIsCreatedAfterTheAttemptWasGivenUp(t *testing.T) {
	for name, c := range abandonedAttempts {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				var log bytes.Buffer
				n := w.open(func(c *incumbent.Config) { c.Logger = zerolog.New(&log) })
				other := w.open()
				w.srv.Create("/l", nil, zkmem.Persistent)
				if c.dir != "/l" {
					w.srv.Create(c.dir, nil, zkmem.Persistent)
				}
				var asked string
				stop := w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if strings.HasPrefix(r.Path, c.dir+"/") && (r.Op == zkmem.OpCreate || r.Op == zkmem.OpCreate2) {
						asked = r.Path
						return zkmem.Verdict{Action: zkmem.Refuse, Code: -7}
					}
					return zkmem.Verdict{}
				})
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				fine(t, c.attempt(ctx, n))
				stop()
				pass(time.Second)
				for range 2 {
					_, err := n.Create(asked, nil).Ephemeral().Sequential().Do(t.Context())
					fine(t, err)
				}
				users, err := n.Create(c.dir+"/_c_00000000-0000-4000-8000-000000000001-other-",
					nil).Ephemeral().Sequential().Do(t.Context())
				fine(t, err)
				pass(bound)
				if left := w.children(c.dir); len(left) != 1 || !strings.HasSuffix(users, left[0]) {
					t.Fatalf("%v, and the user's node is %s", left, users)
				}
				fine(t, n.Delete(users).Do(t.Context()))
				ctx, cancel = context.WithTimeout(t.Context(), bound)
				defer cancel()
				hold, err := must(other.Mutex(c.dir, incumbent.MutexOptions{})).Lock(ctx)
				fine(t, err)
				fine(t, hold.Unlock(t.Context()))
				fine(t, n.Close(t.Context()))
				if got := strings.Count(log.String(), "the server created it after all"); got != 2 {
					t.Errorf("%d lines say so:\n%s", got, log.String())
				}
			})
		})
	}
}

// Nothing is searched for after an attempt that was answered in full, and nothing after some session timeouts.
func TestTheSearchForLeftNodesEnds(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		mutex := must(n.Mutex("/l", incumbent.MutexOptions{}))
		listings := func(code zkmem.Code) int {
			w.answer("/l/", code, false, 1)
			if hold, err := mutex.Lock(t.Context()); err == nil {
				fine(t, hold.Unlock(t.Context()))
			}
			before := w.srv.Counts().ByOp[zkmem.OpGetChildren2] + w.srv.Counts().ByOp[zkmem.OpGetChildren]
			pass(time.Hour)
			return w.srv.Counts().ByOp[zkmem.OpGetChildren2] + w.srv.Counts().ByOp[zkmem.OpGetChildren] - before
		}
		if got := listings(-102); got != 0 {
			t.Errorf("%d listings after a refusal", got)
		}
		if got := listings(-7); got < 1 || got > 6 {
			t.Errorf("%d listings after an answer that says nothing", got)
		}
	})
}
