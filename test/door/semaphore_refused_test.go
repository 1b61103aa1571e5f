package door_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A place in a semaphore's line ends what was refused before it. So two refusals minutes apart are no refusal for
// minutes,
// and Acquire goes on; and an Acquire that gives up says what it waits for, not what was refused once.
func TestTwoRefusalsOfASemaphoreWithAPlaceBetweenThem(t *testing.T) {
	for _, behind := range []string{"permits", "another place"} {
		t.Run("behind "+behind, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				holder, n := w.open(), w.open()
				fine(t, n.WaitConnected(t.Context()))
				semaphore := func(n *node) *incumbent.Semaphore {
					return must(n.Semaphore("/l", 2,
						incumbent.SemaphoreOptions{}))
				}
				free := holdsSoon(t, semaphore(holder).Permits(1))
				if behind == "another place" {
					go func() {
						if hold, err := semaphore(holder).Acquire(t.Context(), 2); err == nil {
							_ = hold.Unlock(t.Context())
						}
					}()
					pass(time.Second)
				}
				w.answer("/l/locks/", -9999, false, 1)
				ctx, cancel := context.WithTimeout(t.Context(), bound)
				defer cancel()
				_, err := semaphore(n).Acquire(ctx, 2)
				if text := err.Error(); strings.Contains(text, "-9999") {
					t.Errorf("the error has what was refused once: %s", text)
				}
				pass(time.Second) // its place is deleted
				w.answer("/l/locks/", -9999, false, 1)
				held := make(chan error, 1)
				go func() {
					hold, err := semaphore(n).Acquire(t.Context(), 2)
					if err == nil {
						err = hold.Unlock(t.Context())
					}
					held <- err
				}()
				pass(bound)
				session, refuse := n.SessionID(), true
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op == zkmem.OpMulti && r.Session == session && refuse &&
						strings.HasPrefix(r.Path, "/l/locks/") {
						refuse = false
						return zkmem.Verdict{Action: zkmem.Refuse, Code: -9999}
					}
					return zkmem.Verdict{}
				})
				free()
				fine(t, <-held)
				if refuse {
					t.Error("nothing was refused")
				}
			})
		})
	}
}
