package door_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// sampledCodes say nothing about a write, and the last one has no name.
var sampledCodes = []zkmem.Code{-1, -4, -5, -7, -13, -122, -9999}

// sampled runs a test for some of sampledCodes, with the write done and not done.
func sampled(t *testing.T, test func(t *testing.T, w *world, code zkmem.Code, done bool)) {
	for _, code := range selection.Some(t, "codes", 1, 2, sampledCodes) {
		for _, done := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/done %t", code, done), func(t *testing.T) {
				bubble(t, zkmem.Options{}, func(t *testing.T, w *world) { test(t, w, code, done) })
			})
		}
	}
}

// leadsSoon starts a participant, waits until it leads, and returns its close.
func leadsSoon(t *testing.T, p interface {
	Start() error
	HasLeadership() bool
	Close(context.Context) error
}) func() {
	fine(t, p.Start())
	pass(bound)
	if !p.HasLeadership() {
		t.Error("it does not lead")
	}
	return func() { fine(t, p.Close(t.Context())) }
}

// holdsSoon takes a lock, and returns its unlock.
func holdsSoon(t *testing.T, l incumbent.Lockable) func() {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	hold, err := l.Lock(ctx)
	fine(t, err)
	return func() { fine(t, hold.Unlock(t.Context())) }
}

// placesGained are the recipes with which a client gets something that others wait for.
var placesGained = map[string]func(t *testing.T, n *node) func(){
	"selector": func(t *testing.T, n *node) func() {
		work := func(l *incumbent.Leadership) error { <-l.Context().Done(); return nil }
		return leadsSoon(t, must(n.Selector("/l", work, incumbent.SelectorOptions{AutoRequeue: true})))
	},
	"election": func(t *testing.T, n *node) func() {
		return leadsSoon(t, must(n.Election("/l", "n_", incumbent.LatchOptions{})))
	},
	"job": func(t *testing.T, n *node) func() {
		return leadsSoon(t, must(n.JobElection("/l", incumbent.JobElectionOptions{})))
	},
	"reader": func(t *testing.T, n *node) func() {
		return holdsSoon(t, must(n.ReadWriteLock("/l", incumbent.MutexOptions{})).Reader())
	},
	"writer": func(t *testing.T, n *node) func() {
		return holdsSoon(t, must(n.ReadWriteLock("/l", incumbent.MutexOptions{})).Writer())
	},
	"kazoo": func(t *testing.T, n *node) func() {
		return holdsSoon(t, must(n.Mutex("/l", incumbent.MutexOptions{Kazoo: true})))
	},
	"permits": func(t *testing.T, n *node) func() {
		return holdsSoon(t, must(n.Semaphore("/l", 2, incumbent.SemaphoreOptions{})).Permits(2))
	},
	"kazoo's": func(t *testing.T, n *node) func() {
		return holdsSoon(t, must(n.Semaphore("/l", 2, incumbent.SemaphoreOptions{Kazoo: true})).Permits(2))
	},
	"multilock": func(t *testing.T, n *node) func() {
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		defer cancel()
		hold, err := must(incumbent.NewMultiLock(must(n.Mutex("/l/a", incumbent.MutexOptions{})),
			must(n.Mutex("/l/b", incumbent.MutexOptions{})))).Lock(ctx)
		fine(t, err)
		return func() { fine(t, hold.Unlock(t.Context())) }
	},
	"member": func(t *testing.T, n *node) func() {
		m := must(n.Membership("/l", "a", nil, incumbent.PersistentNodeOptions{}))
		fine(t, m.Start())
		pass(bound)
		if !m.Present() || m.Err() != nil {
			t.Errorf("present %t, %v", m.Present(), m.Err())
		}
		return func() { fine(t, m.Close(t.Context())) }
	},
	"double barrier": func(t *testing.T, n *node) func() {
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		defer cancel()
		b := must(n.DoubleBarrier("/l", 1, incumbent.DoubleBarrierOptions{}))
		fine(t, b.Enter(ctx))
		return func() { fine(t, b.Leave(t.Context())); fine(t, b.Close(t.Context())) }
	},
}

// A client gets its place although one of its writes, the first or the second, is answered by a code that says
// nothing. So does
// another client when it has given the place back.
func TestAPlaceAfterAnAnswerThatSaysNothing(t *testing.T) {
	for name, gain := range placesGained {
		for _, dir := range []string{"/l", "/l/"} {
			t.Run(name+" "+dir, func(t *testing.T) {
				sampled(t, func(t *testing.T, w *world, code zkmem.Code, done bool) {
					n, other := w.open(), w.open()
					w.answer(dir, code, done, 1)
					gain(t, n)()
					w.answer(dir, code, done, 1) // the last of its writes, the next time
					gain(t, other)()
				})
			})
		}
	}
}

// written are calls that write once. Each reports whether that was done.
var written = map[string]struct {
	prepare func(t *testing.T, n *node)
	call    func(ctx context.Context, n *node) error
	done    func(t *testing.T, w *world, n *node) bool
}{
	"count": {nil, func(ctx context.Context, n *node) error {
		_, err := must(n.SharedCount("/l/n", 1)).Set(ctx, 5)
		return err
	}, func(t *testing.T, w *world, n *node) bool {
		c, err := must(n.SharedCount("/l/n", 1)).Get(t.Context())
		fine(t, err)
		return c.Value == 5
	}},
	"barrier set": {nil, func(ctx context.Context, n *node) error { return must(n.Barrier("/l/b")).Set(ctx) },
		func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 1 }},
	"barrier removed": {func(t *testing.T, n *node) { fine(t, must(n.Barrier("/l/b")).Set(t.Context())) },
		func(ctx context.Context, n *node) error { return must(n.Barrier("/l/b")).Remove(ctx) },
		func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 0 }},
	"gate": {nil, func(ctx context.Context, n *node) error { return must(n.Gate("/l/g")).Open(ctx) },
		func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 1 }},
	"protected create": {nil, func(ctx context.Context, n *node) error {
		_, err := n.Create("/l/p", nil).Protected().Do(ctx)
		return err
	}, func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 1 }},
	"limit": {func(t *testing.T, n *node) {
		holdsSoon(t, must(n.Semaphore("/l", 2, incumbent.SemaphoreOptions{})).Permits(1))()
	},
		func(ctx context.Context, n *node) error {
			return must(n.Semaphore("/l", 2, incumbent.SemaphoreOptions{})).SetLimit(ctx, 3)
		}, func(t *testing.T, w *world, n *node) bool {
			limit, err := must(n.Semaphore("/l", 2, incumbent.SemaphoreOptions{})).Agreed(t.Context())
			fine(t, err)
			return limit == 3
		}},
	"put": {nil, func(ctx context.Context, n *node) error {
		return must(incumbent.NewQueue(n.Client, "/l",
			incumbent.QueueOptions[string]{Codec: incumbent.Text()})).Put(ctx, "x")
	}, func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 1 }},
	"put with an id": {nil, func(ctx context.Context, n *node) error {
		return must(incumbent.NewIDQueue(n.Client, "/l",
			incumbent.QueueOptions[string]{Codec: incumbent.Text()})).ID("a").Put(ctx, "x")
	}, func(_ *testing.T, w *world, _ *node) bool { return len(w.children("/l")) == 1 }},
}

// A write that is answered by a code that says nothing is done if the call returns nil, and not done if it returns
// another error
// than ErrOutcomeUnknown. It is never done twice.
func TestACallAfterAnAnswerThatSaysNothing(t *testing.T) {
	for name, c := range written {
		t.Run(name, func(t *testing.T) {
			sampled(t, func(t *testing.T, w *world, code zkmem.Code, done bool) {
				n := w.open()
				w.srv.Create("/l", nil, zkmem.Persistent)
				if c.prepare != nil {
					c.prepare(t, n)
				}
				w.answer("/l", code, done, 1)
				ctx, cancel := context.WithTimeout(t.Context(), bound)
				defer cancel()
				err := c.call(ctx, n)
				if got := c.done(t, w, n); !errors.Is(err, incumbent.ErrOutcomeUnknown) && got != (err == nil) ||
					errors.Is(err, incumbent.ErrOutcomeUnknown) && got != done {
					t.Errorf("done %t, and the call returned %v", got, err)
				}
			})
		})
	}
}

// A guarded write is done once, or the error says that this is not known.
func TestAGuardedWriteAfterAnAnswerThatSaysNothing(t *testing.T) {
	type writer interface {
		Write(ctx context.Context, ops ...incumbent.Op) ([]incumbent.OpResult, error)
	}
	for name, gain := range map[string]func(t *testing.T, n *node) writer{
		"leadership": func(t *testing.T, n *node) writer {
			l := must(n.Latch("/l", incumbent.LatchOptions{}))
			fine(t, l.Start())
			term, err := l.Await(t.Context())
			fine(t, err)
			return term
		},
		"hold": func(t *testing.T, n *node) writer {
			hold, err := must(n.Mutex("/l", incumbent.MutexOptions{})).Lock(t.Context())
			fine(t, err)
			return hold
		},
	} {
		t.Run(name, func(t *testing.T) {
			sampled(t, func(t *testing.T, w *world, code zkmem.Code, done bool) {
				n := w.open()
				w.srv.Create("/d", nil, zkmem.Persistent)
				held := gain(t, n)
				var answered bool
				w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
					if r.Op != zkmem.OpMulti || answered {
						return zkmem.Verdict{}
					}
					answered = true
					if done {
						return zkmem.Verdict{Action: zkmem.Misreport, Code: code}
					}
					return zkmem.Verdict{Action: zkmem.Refuse, Code: code}
				})
				_, err := held.Write(t.Context(), incumbent.CreateNode("/d/n", nil))
				if got := len(w.children("/d")) == 1; !answered || got != done ||
					!errors.Is(err, incumbent.ErrOutcomeUnknown) {
					t.Errorf("answered %t, done %t, and the call returned %v", answered, got, err)
				}
				if r, ok := held.(interface{ Release() }); ok {
					r.Release()
				}
			})
		})
	}
}

// An item is handled at least once, and is gone then.
func TestAnItemTakenAfterAnAnswerThatSaysNothing(t *testing.T) {
	sampled(t, func(t *testing.T, w *world, code zkmem.Code, done bool) {
		n := w.open()
		q := must(incumbent.NewQueue(n.Client, "/l",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/locks"}))
		fine(t, q.Put(t.Context(), "x"))
		handled := make(chan struct{}, 100)
		consumer := must(q.AtLeastOnce(func(context.Context,
			incumbent.Delivery[string]) error {
			handled <- struct{}{}
			return nil
		}, incumbent.ConsumerOptions{}))
		w.answer("/l", code, done, 1)
		fine(t, consumer.Start())
		pass(bound)
		if len(handled) == 0 || len(w.children("/l")) != 0 {
			t.Errorf("handled %d times, and %v are left", len(handled), w.children("/l"))
		}
		fine(t, consumer.Close(t.Context()))
	})
}
