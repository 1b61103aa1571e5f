package door_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// reapedRounds are one use of each recipe that makes directories, by two clients. All that
// they create is gone at the end, so that the next round finds no directory.
var reapedRounds = map[string]func(ctx context.Context, a, b *incumbent.Client) error{
	"latch": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			l, err := c.Latch("/app/latch", incumbent.LatchOptions{})
			if err != nil {
				return err
			}
			return oneTerm(ctx, l, l.Start(), l.Await)
		})
	},
	"election": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			e, err := c.Election("/app/election", "n_", incumbent.LatchOptions{})
			if err != nil {
				return err
			}
			return oneTerm(ctx, e, e.Start(), e.Await)
		})
	},
	"job election": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			j, err := c.JobElection("/app/job", incumbent.JobElectionOptions{})
			if err != nil {
				return err
			}
			return oneTerm(ctx, j, j.Start(), j.Await)
		})
	},
	"mutex": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			m, err := c.Mutex("/app/mutex", incumbent.MutexOptions{})
			if err != nil {
				return err
			}
			return oneHold(ctx, m.Lock)
		})
	},
	"read-write lock": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			l, err := c.ReadWriteLock("/app/readwrite", incumbent.MutexOptions{})
			if err != nil {
				return err
			}
			return errors.Join(oneHold(ctx, l.RLock), oneHold(ctx, l.Writer().Lock))
		})
	},
	"semaphore": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			s, err := c.Semaphore("/app/semaphore", 1, incumbent.SemaphoreOptions{})
			if err != nil {
				return err
			}
			return oneHold(ctx, s.Permits(1).Lock)
		})
	},
	"double barrier": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			d, err := c.DoubleBarrier("/app/double", 2, incumbent.DoubleBarrierOptions{})
			if err != nil {
				return err
			}
			return errors.Join(d.Enter(ctx), d.Leave(ctx), d.Close(ctx))
		})
	},
	"membership": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			m, err := c.Membership("/app/group", map[*incumbent.Client]string{a: "a", b: "b"}[c], nil,
				incumbent.PersistentNodeOptions{})
			if err != nil {
				return err
			}
			return errors.Join(m.Start(), m.WaitPresent(ctx), m.Close(ctx))
		})
	},
	"barrier and gate": func(ctx context.Context, a, b *incumbent.Client) error {
		shut, err1 := a.Barrier("/app/ways/barrier")
		gate, err2 := b.Gate("/app/ways/gate")
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		return errors.Join(shut.Set(ctx), shut.Remove(ctx), shut.Wait(ctx), gate.Open(ctx), gate.Wait(ctx),
			gate.Shut(ctx))
	},
	"number": func(ctx context.Context, a, b *incumbent.Client) error {
		n, err := a.AtomicLong("/app/numbers/n", incumbent.AtomicLongOptions{})
		if err != nil {
			return err
		}
		_, err = n.Add(ctx, 1)
		return errors.Join(err, b.Delete("/app/numbers/n").Do(ctx))
	},
	"request": func(ctx context.Context, a, b *incumbent.Client) error {
		return inTurn(a, b, func(c *incumbent.Client) error {
			path, err := c.Create("/app/deep/down/n-", nil).Sequential().Parents().Do(ctx)
			// it creates them three times at most
			for refused := (*incumbent.Error)(nil); errors.As(err, &refused) && refused.Code == events.ParentGone; {
				path, err = c.Create("/app/deep/down/n-", nil).Sequential().Parents().Do(ctx)
			}
			if err != nil {
				return err
			}
			return c.Delete(path).Do(ctx)
		})
	},
}

// inTurn runs something at both clients at once.
func inTurn(a, b *incumbent.Client, do func(*incumbent.Client) error) error {
	second := make(chan error, 1)
	go func() { second <- do(b) }()
	return errors.Join(do(a), <-second)
}

// oneTerm leads once, and leaves the line.
func oneTerm(ctx context.Context, e interface{ Close(context.Context) error }, started error,
	await func(context.Context) (*incumbent.Leadership, error)) error {
	l, err := await(ctx)
	if err := errors.Join(started, err); err != nil {
		return err
	}
	l.Release()
	return e.Close(ctx)
}

// oneHold locks and unlocks once.
func oneHold(ctx context.Context, lock func(context.Context) (*incumbent.Hold, error)) error {
	h, err := lock(ctx)
	if err != nil {
		return err
	}
	return h.Unlock(ctx)
}

// With Config.PersistentParents no recipe asks for a container, nor does a create with parents. One that asks for a
// container gets it.
func TestPersistentParentsAreNoContainers(t *testing.T) {
	for name, round := range reapedRounds {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				persistent := func(c *incumbent.Config) { c.PersistentParents = true }
				a, b := w.open(persistent).Client, w.open(persistent).Client
				fine(t, round(t.Context(), a, b))
				_, err := a.Create("/other/a/b", nil).Parents().Do(t.Context())
				fine(t, err)
				if n := w.srv.Counts().ByOp[zkmem.OpCreateContainer]; n != 0 {
					t.Errorf("%d containers were asked for", n)
				}
				_, err = a.Create("/other/container", nil).Container().Do(t.Context())
				fine(t, err)
			})
		})
	}
}

// TestContainersReapedBeforeEveryRequest has the server reap every empty container before each
// request of anybody. Every recipe makes its directories again, and no call fails but a single
// request, which gives up when they went three times: the caller asks again.
func TestContainersReapedBeforeEveryRequest(t *testing.T) {
	for name, round := range reapedRounds {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				a, b := w.open().Client, w.open().Client
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				reaped := 0
				remove := w.srv.Intercept(func(zkmem.Request) zkmem.Verdict {
					n := w.srv.ReapContainers()
					w.mu.Lock()
					defer w.mu.Unlock()
					reaped += n
					return zkmem.Verdict{}
				})
				defer remove()
				const rounds = 5
				for i := range rounds {
					if err := round(ctx, a, b); err != nil {
						t.Fatalf("round %d: %v", i, err)
					}
				}
				pass(time.Second)
				for w.srv.ReapContainers() > 0 {
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if reaped < rounds {
					t.Errorf("%d containers were reaped in %d rounds, want one in each at least", reaped, rounds)
				}
				if left := w.children("/app"); len(left) != 0 && name != "semaphore" { // its agreed limit stays
					t.Errorf("left: %v", left)
				}
			})
		})
	}
}
