package incumbent

import (
	"context"

	"github.com/incumbent-go/incumbent/internal/async"
)

// Holder lets a chain of calls lock again what it holds: the first Lock acquires the mutex,
// those after it return the same Hold immediately, and the last Unlock releases it. Pass it
// down as an argument: a function that has it may lock. It is what re-entrancy by thread is
// in Java, but the owner is explicit.
//
// All its methods are safe to call from any goroutine.
type Holder struct {
	mutex *Mutex
	guard async.ContextMutex // guards the fields below
	depth int
	hold  *Hold
}

// Holder returns a holder that holds nothing yet.
func (m *Mutex) Holder() *Holder { return &Holder{mutex: m, guard: async.NewContextMutex()} }

// Lock is Mutex.Lock for the first call, and counts for the others, which find the lock
// held. Each needs its Unlock. If the hold was lost, it returns ErrLockLost until
// every caller has unlocked.
func (h *Holder) Lock(ctx context.Context) (*Hold, error) {
	hold, _, err := h.enter(ctx, "lock", func() (*Hold, bool, error) {
		hold, err := h.mutex.Lock(ctx)
		return hold, err == nil, err
	})
	return hold, err
}

// TryLock is Mutex.TryLock for the first call, and Lock for the others.
func (h *Holder) TryLock(ctx context.Context) (*Hold, bool, error) {
	return h.enter(ctx, "try lock", func() (*Hold, bool, error) { return h.mutex.TryLock(ctx) })
}

// check does what Client.check does.
func (h *Holder) check(ctx context.Context) {
	var c *Client
	if h.mutex != nil {
		c = h.mutex.client
	}
	c.check(ctx)
}

func (h *Holder) enter(ctx context.Context, op string, acquire func() (*Hold, bool, error)) (*Hold, bool, error) {
	h.check(ctx)
	if err := h.guard.Lock(ctx); err != nil {
		return nil, false, h.mutex.client.explain(ctx, op, h.mutex.path, err, notAsked(h.guard))
	}
	defer h.guard.Unlock()
	if h.depth > 0 {
		if err := h.hold.Check(); err != nil {
			return nil, false, err
		}
		h.depth++
		return h.hold, true, nil
	}
	hold, held, err := acquire()
	if held {
		h.hold, h.depth = hold, 1
	}
	return hold, held, err
}

// Unlock ends one Lock; the last releases the mutex, as Hold.Unlock does. One too many is
// ErrNotHeld.
func (h *Holder) Unlock(ctx context.Context) error {
	h.check(ctx)
	h.guard.Wait()
	defer h.guard.Unlock()
	switch h.depth {
	case 0:
		return ErrNotHeld
	case 1:
		hold := h.hold
		h.depth, h.hold = 0, nil
		return hold.Unlock(ctx)
	}
	h.depth--
	return nil
}
