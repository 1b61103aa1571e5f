package door_test

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/link"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// throttled is ZooKeeper's THROTTLEDOP.
const throttled zkmem.Code = -127

// refuse answers these requests with a code.
func refuse(code zkmem.Code, ops ...zkmem.OpCode) func(zkmem.Request) zkmem.Verdict {
	return func(r zkmem.Request) zkmem.Verdict {
		for _, op := range ops {
			if r.Op == op {
				return zkmem.Verdict{Action: zkmem.Refuse, Code: code}
			}
		}
		return zkmem.Verdict{}
	}
}

// once lets a verdict other than Serve pass once.
func once(decide func(zkmem.Request) zkmem.Verdict) func(zkmem.Request) zkmem.Verdict {
	var done atomic.Bool
	return func(r zkmem.Request) zkmem.Verdict {
		if v := decide(r); v != (zkmem.Verdict{}) && done.CompareAndSwap(false, true) {
			return v
		}
		return zkmem.Verdict{}
	}
}

// One refusal, long ago, is no reason to give a place up while the whole ensemble is in trouble. Neither is an ensemble
// that refuses for less than a session timeout, or is slow.
func TestAPlaceIsKeptThroughTheEnsemblesTrouble(t *testing.T) {
	slow := func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpMulti {
			return zkmem.Verdict{Delay: 2100 * time.Millisecond}
		}
		return zkmem.Verdict{}
	}
	for _, c := range []struct {
		name    string
		trouble func(zkmem.Request) zkmem.Verdict
		lasts   time.Duration
	}{
		{"throttled", refuse(throttled, zkmem.OpGetChildren2), ableTimeout * 3 / 4},
		{"a server's error", refuse(zkmem.SystemError, zkmem.OpGetChildren2), ableTimeout * 3 / 4},
		{"slow", slow, 5 * ableTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				first := w.join(t, "first")
				w.join(t, "second")
				own := first.ownPath()
				w.srv.Intercept(once(refuse(zkmem.NoAuth, zkmem.OpGetChildren2)))
				ended := w.srv.Intercept(c.trouble)
				first.cut()
				pass(c.lasts)
				ended()
				if pass(3 * ableTimeout); first.ownPath() != own {
					t.Error("the place was given up")
				}
			})
		})
	}
}

// One error of a server is no reason to end a session that other participants of the client need for
// their places.
func TestOneServerErrorEndsNoSession(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		w.join(t, "leader")
		waiter := w.join(t, "waiter")
		hold := must(must(waiter.Mutex("/lock", incumbent.MutexOptions{})).Lock(t.Context()))
		own := waiter.ownPath()
		w.srv.Intercept(once(refuse(zkmem.SystemError, zkmem.OpDelete)))
		if err := hold.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if pass(ableTimeout); waiter.ownPath() != own {
			t.Error("the session was ended, and the waiter's place with it")
		}
	})
}

// The check of the predecessor is the library's own idea. If it fails, the waiter waits on, and its
// watch is still there.
func TestAFailedCheckOfThePredecessorChangesNothing(t *testing.T) {
	for _, code := range []zkmem.Code{throttled, zkmem.SystemError} {
		t.Run(fmt.Sprint(int(code)), func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				leader := w.join(t, "leader")
				hold := must(must(leader.Mutex("/lock", incumbent.MutexOptions{})).Lock(t.Context()))
				n := w.open(timeouts(ableTimeout, time.Second))
				n.latch = must(n.Latch("/line",
					incumbent.LatchOptions{ID: "waiter", Retry: incumbent.RetryNTimes(0, time.Second)}))
				if err := n.latch.Start(); err != nil {
					t.Fatal(err)
				}
				w.srv.Intercept(refuse(code, zkmem.OpExists))
				ctx, cancel := context.WithTimeout(t.Context(), 3*ableTimeout)
				defer cancel()
				if _, err := must(n.Mutex("/lock", incumbent.MutexOptions{})).Lock(ctx); ctx.Err() == nil {
					t.Errorf("Lock gave up: %v", err)
				}
				if n.latch.Phase() != "waiting" || n.latch.Err() != nil {
					t.Errorf("the latch is %s: %v", n.latch.Phase(), n.latch.Err())
				}
				if err := hold.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Every recipe with a node of its own pauses if somebody deletes that again and again.
func TestNodesThatDoNotLastArePaced(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, *node){
		"latch": func(t *testing.T, n *node) { start(t, must(n.Latch("/s", incumbent.LatchOptions{}))) },
		"persistent node": func(t *testing.T, n *node) {
			start(t, must(n.PersistentNode("/s/node", nil, incumbent.PersistentNodeOptions{})))
		},
		"membership": func(t *testing.T, n *node) {
			start(t, must(n.Membership("/s", "member", nil, incumbent.PersistentNodeOptions{})))
		},
		"double barrier": func(t *testing.T, n *node) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_ = must(n.DoubleBarrier("/s", 2, incumbent.DoubleBarrierOptions{})).Enter(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				creates := 0
				w.srv.OnApply(func(txn zkmem.Txn, _ zkmem.Result) {
					if txn.Owner == 0 || txn.Path == "/s" {
						return
					}
					if creates++; creates <= 1000 { // or virtual time would stand still
						go func() { _ = w.srv.Delete(txn.Path) }()
					}
				})
				begin(t, w.open(timeouts(ableTimeout, time.Second)))
				if pass(10 * time.Second); creates > 50 {
					t.Errorf("%d nodes in 10 s", creates)
				}
			})
		})
	}
}

func start(t *testing.T, s interface{ Start() error }) {
	t.Helper()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
}

// If no confirmation ever counts, the participant says so.
func TestConfirmationsThatNeverCountAreNotSilent(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		t.Cleanup(func() { pass(time.Minute) })
		n := w.open(func(c *incumbent.Config) {
			c.SessionTimeout = ableTimeout
			c.Dial = func(context.Context, string, string) (net.Conn, error) {
				return w.dialSlow(350 * time.Millisecond), nil
			}
		})
		n.latch = must(n.Latch("/line", incumbent.LatchOptions{}))
		start(t, n.latch)
		silent := 0
		for range 60 {
			if pass(time.Second); n.latch.HasLeadership() || n.latch.Err() != nil {
				silent = 0
			} else if silent++; silent > 15 {
				t.Fatalf("it is %s for %d s, and Err is nil", n.latch.Phase(), silent)
			}
		}
	})
}

// dialSlow connects by a link on which each direction takes so long.
func (w *world) dialSlow(oneWay time.Duration) net.Conn { return link.Dial(oneWay, w.srv.ServeConn) }
