//go:build linux

package chaos

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent"
)

// writeEvery is the interval of guarded writes.
const writeEvery = 250 * time.Millisecond

// firstLimit is the limit of a semaphore in the beginning. Clients set others, from lowestLimit to lowestLimit+2.
const (
	firstLimit  = 3
	lowestLimit = 2
)

// lockCandidate takes a lock of this library, works under it and releases it, over and over.
type lockCandidate struct {
	client  *incumbent.Client
	acquire func(context.Context) (*incumbent.Hold, error)
	held    atomic.Pointer[incumbent.Hold]
}

func joinLocks(w *worker) (candidate, error) {
	client, err := openClient(w.orders)
	if err != nil {
		return nil, err
	}
	c := &lockCandidate{client: client}
	options := incumbent.MutexOptions{ID: w.id, Retry: incumbent.RetryForever(100 * time.Millisecond)}
	switch w.kind {
	case byMutex:
		mutex, err := client.Mutex(w.path, options)
		c.acquire = func(ctx context.Context) (*incumbent.Hold, error) { return mutex.Lock(ctx) }
		return c, err
	case byReadWrite:
		lock, err := client.ReadWriteLock(w.path, options)
		reads := false // a client begins as a writer
		c.acquire = func(ctx context.Context) (*incumbent.Hold, error) {
			hold, err := lockSide(ctx, lock, reads)
			reads = w.chance.IntN(3) > 0
			return hold, err
		}
		return c, err
	}
	p := &permits{worker: w, client: client, options: incumbent.SemaphoreOptions{ID: options.ID, Retry: options.Retry}}
	p.semaphore, err = client.Semaphore(w.path, firstLimit, p.options)
	c.acquire = p.acquire
	return c, err
}

// lockSide acquires a read-write lock for reading, or for writing.
func lockSide(ctx context.Context, lock *incumbent.ReadWriteLock, reads bool) (*incumbent.Hold, error) {
	if reads {
		return lock.RLock(ctx)
	}
	hold, err := lock.Lock(ctx)
	if err != nil {
		return nil, err
	}
	return &hold.Hold, nil
}

// permits are what a client takes of a semaphore: one or two at a time. Now and then it sets another limit first.
type permits struct {
	*worker
	client    *incumbent.Client
	semaphore *incumbent.Semaphore
	options   incumbent.SemaphoreOptions
}

func (p *permits) acquire(ctx context.Context) (*incumbent.Hold, error) {
	if p.chance.IntN(5) == 0 && !p.worker.hold.Load() {
		p.semaphore.SetLimit(ctx, lowestLimit+p.chance.IntN(3)) // if that fails, the limit is one or the other
	}
	hold, err := p.semaphore.Acquire(ctx, 1+p.chance.IntN(2))
	if !errors.Is(err, incumbent.ErrLimitDiffers) {
		return hold, err
	}
	limit, agreed := p.semaphore.Agreed(ctx)
	if agreed == nil {
		p.semaphore, agreed = p.client.Semaphore(p.path, limit, p.options)
	}
	return nil, agreed
}

func (c *lockCandidate) holding(int) int64 {
	if held := c.held.Load(); held != nil && held.Check() == nil {
		return held.Token()
	}
	return 0
}

func (c *lockCandidate) run(w *worker) {
	ctx, cancel := w.untilEnding()
	defer cancel()
	for !w.leaving() {
		hold, err := c.acquire(ctx)
		switch {
		case hold != nil:
			c.work(w, hold)
		case err != nil && ctx.Err() == nil:
			w.say("error %v", err)
			w.rest(again)
		}
	}
}

// work works under a hold, and ends it.
func (c *lockCandidate) work(w *worker, hold *incumbent.Hold) {
	c.held.Store(hold)
	stop := w.writing(hold.Leadership, 0)
	w.term(hold.Context().Done())
	stop()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := hold.Unlock(ctx); err != nil && !errors.Is(err, incumbent.ErrLockLost) {
		w.say("error %v", err)
	}
}

func (c *lockCandidate) leave() error { return closeClient(c.client) }

// guarded is a leadership, or a shard.
type guarded interface {
	Context() context.Context
	Token() int64
	Write(context.Context, ...incumbent.Op) ([]incumbent.OpResult, error)
}

// writing writes under a leadership until it is stopped: each write has a number of its own, and is sent once.
func (w *worker) writing(held guarded, part int) (stop func()) {
	ctx, cancel := context.WithCancel(held.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(writeEvery * time.Duration(w.kind.parts()))
		defer ticker.Stop()
		for {
			w.write(part, func(n int64) error {
				data := fmt.Appendf(nil, "%s %d %d", w.id, n, held.Token())
				_, err := held.Write(ctx, incumbent.SetData(w.kind.part(part).written(), data, incumbent.AnyVersion))
				return err
			})
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// write does a write under the next number, and tells what came of it.
func (w *worker) write(part int, do func(n int64) error) {
	n := w.writes.Add(1)
	w.say("writes %d %d %d", n, monotonic(), part)
	fate := written
	switch err := do(n); {
	case errors.Is(err, incumbent.ErrOutcomeUnknown):
		fate = unknown
	case err != nil:
		fate = refused
	}
	w.say("wrote %d %s %d", n, fate, monotonic())
}
