package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What ends in the line's label and a number is a place for TryLock, Lock, Line and Watch, whatever precedes it. What
// does not is passed over by all of them. A read-write lock in the same directory has labels of its own.
func TestPlacesOfOtherMakers(t *testing.T) {
	const hex = "0f1e2d3c4b5a49888776655443322110"
	const upper = "0F1E2D3C4B5A49888776655443322110"
	for name, isPlace := range map[string]bool{
		"_c_" + hex + "-lock-0000000000":                          true,
		"_c_" + upper + "-lock-0000000000":                        true,
		"_c_0F1E2D3C-4B5A-4988-8776-655443322110-lock-0000000000": true,
		"_c_short-lock-0000000000":                                true,
		"host-1-lock-0000000000":                                  true,
		hex + "-lock-0000000000":                                  true,
		"lock-0000000000":                                         true,
		"my-lock-0000000000":                                      true,
		"lock-2147483647":                                         true,
		"lock--2147483648":                                        true,
		"lock--000000005":                                         true,
		"lock-4294967296":                                         false, // no int32
		"lock-00000000000":                                        false,
		"lock-000000000":                                          false,
		"lock--0000000000":                                        false,
		"lock-+000000000":                                         false,
		"lock-000000000x":                                         false,
		"lock-":                                                   false,
		"lock0000000000":                                          false,
		"LOCK-0000000000":                                         false,
		"_c_" + hex + "-locks-0000000000":                         false,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				if err := w.createAll("/dir/" + name); err != nil {
					t.Fatal(err)
				}
				c := w.open(timeouts(10*time.Second, 2*time.Second))
				m := must(c.Mutex("/dir", incumbent.MutexOptions{}))
				hold, held, err := m.TryLock(within(t, time.Minute))
				if held == isPlace || err != nil {
					t.Errorf("TryLock: %t, %v", held, err)
				}
				if held {
					if err := hold.Unlock(context.Background()); err != nil {
						t.Error(err)
					}
				}
				line := must(c.Line(within(t, time.Minute), "/dir"))
				if len(line.Participants) == 1 != isPlace || line.Foreign == 0 != isPlace {
					t.Errorf("Line: %+v", line)
				}
				for change, err := range c.Watch(within(t, time.Minute), "/dir") {
					if (change.Blocker.Path == "/dir/"+name) != isPlace || err != nil {
						t.Errorf("Watch: %+v, %v", change, err)
					}
					break
				}
				if !isPlace {
					return
				}
				l := must(c.ReadWriteLock("/dir", incumbent.MutexOptions{}))
				hold2, held, err := l.TryRLock(within(t, time.Minute))
				if err != nil || !held {
					t.Fatalf("TryRLock with a lock in the directory: %t, %v", held, err)
				}
				if err := hold2.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
				if _, err := m.Lock(within(t, time.Minute)); err == nil || errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Lock behind a persistent node, or at the end of the counter: %v", err)
				}
			})
		})
	}
}
