package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/internal/async"
)

// ReadWriteHolder lets a chain of calls lock again what it holds, as Holder does for a
// mutex. The first Lock or RLock acquires, those after it count, and the last Unlock or
// RUnlock releases.
//
// A caller that writes may read as well. If the last Unlock comes while an RLock is open,
// the hold becomes one for reading, in its place: see WriteHold.Downgrade. A caller that
// only reads cannot write: such a Lock would wait for itself, and is refused.
//
// All its methods are safe to call from any goroutine.
type ReadWriteHolder struct {
	lock  *ReadWriteLock
	guard async.ContextMutex

	writes, reads int // calls that are open
	hold          *Hold
	failed        error // the downgrade's error, if it failed
}

// Holder returns a holder that holds nothing yet.
func (l *ReadWriteLock) Holder() *ReadWriteHolder {
	return &ReadWriteHolder{lock: l, guard: async.NewContextMutex()}
}

// check does what Client.check does.
func (h *ReadWriteHolder) check(ctx context.Context) {
	var c *Client
	if h.lock != nil {
		c = h.lock.client
	}
	c.check(ctx)
}

// Lock is ReadWriteLock.Lock for the first call, and counts for the others, which find the
// lock held for writing. Each needs its Unlock. It returns ErrUpgrade immediately if the
// holder only reads, and ErrLockLost if the hold was lost, until every caller has
// unlocked.
func (h *ReadWriteHolder) Lock(ctx context.Context) (*WriteHold, error) {
	w, _, err := h.enterWriting(ctx, false)
	return w, err
}

// TryLock is ReadWriteLock.TryLock for the first call, and Lock for the others.
func (h *ReadWriteHolder) TryLock(ctx context.Context) (*WriteHold, bool, error) {
	return h.enterWriting(ctx, true)
}

func (h *ReadWriteHolder) enterWriting(ctx context.Context, try bool) (*WriteHold, bool, error) {
	hold, held, err := h.enter(ctx, false, try)
	w, err := writing(hold, err)
	return w, held, err
}

// RLock is ReadWriteLock.RLock for the first call, and counts for the others, which find
// the lock held for reading or writing. Each needs its RUnlock. While the holder writes, it
// returns the writer's hold, which ends when that is downgraded: Hold returns the present
// one. ErrLockLost is as for Lock.
func (h *ReadWriteHolder) RLock(ctx context.Context) (*Hold, error) {
	hold, _, err := h.enter(ctx, true, false)
	return hold, err
}

// TryRLock is ReadWriteLock.TryRLock for the first call, and RLock for the others.
func (h *ReadWriteHolder) TryRLock(ctx context.Context) (*Hold, bool, error) {
	return h.enter(ctx, true, true)
}

func (h *ReadWriteHolder) enter(ctx context.Context, reads, try bool) (*Hold, bool, error) {
	h.check(ctx)
	if err := h.guard.Lock(ctx); err != nil {
		return nil, false, h.lock.client.explain(ctx, lockOp(reads, try), h.lock.path, err, notAsked(h.guard))
	}
	defer h.guard.Unlock()
	count := &h.writes
	if reads {
		count = &h.reads
	}
	switch {
	case !reads && h.writes == 0 && h.reads > 0:
		return nil, false, ErrUpgrade
	case h.writes+h.reads > 0:
		if err := h.hold.Check(); err != nil {
			return nil, false, err
		}
		*count++
		return h.hold, true, nil
	}
	hold, held, err := tryResult(h.lock.acquire(ctx, reads, try))
	if held {
		h.hold, h.failed, *count = hold, nil, 1
	}
	return hold, held, err
}

// Hold returns what is held at this moment; nil if that is nothing.
func (h *ReadWriteHolder) Hold() *Hold {
	h.check(context.Background())
	h.guard.Wait()
	defer h.guard.Unlock()
	if h.writes+h.reads == 0 {
		return nil
	}
	return h.hold
}

// Unlock ends one Lock. The last releases the lock, as Hold.Unlock does, or downgrades it
// if an RLock is open; if that fails, nothing is held any longer, and the last RUnlock
// returns the error, too. One too many is ErrNotHeld.
func (h *ReadWriteHolder) Unlock(ctx context.Context) error {
	h.check(ctx)
	h.guard.Wait()
	defer h.guard.Unlock()
	if h.writes == 0 {
		return ErrNotHeld
	}
	h.writes--
	if h.writes > 0 || h.reads == 0 {
		return h.leave(ctx)
	}
	read, err := (&WriteHold{*h.hold}).Downgrade(ctx)
	if err != nil {
		h.failed = err
		return err
	}
	h.hold = read
	return nil
}

// RUnlock ends one RLock; the last releases the lock, as Hold.Unlock does, unless the
// holder writes. One too many is ErrNotHeld.
func (h *ReadWriteHolder) RUnlock(ctx context.Context) error {
	h.check(ctx)
	h.guard.Wait()
	defer h.guard.Unlock()
	if h.reads == 0 {
		return ErrNotHeld
	}
	h.reads--
	return h.leave(ctx)
}

// leave unlocks if no call is open.
func (h *ReadWriteHolder) leave(ctx context.Context) error {
	switch {
	case h.writes+h.reads > 0:
		return nil
	case h.failed != nil:
		return h.failed
	}
	return h.hold.Unlock(ctx)
}
