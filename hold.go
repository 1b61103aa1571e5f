package incumbent

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Hold is a lock that is held, until Unlock or until it is lost: by the end of the session
// or the deletion of its node, by a disconnect (unless Config.RideOut), or because no
// confirmation came in time. A hold that is lost does not come back: Context ends with the
// cause ErrLeadershipLost, the work under it has to stop, and Unlock returns that it was
// lost.
//
// Check, Token, ValidUntil and Write are those of every Leadership. Before AloneUntil no
// other client holds a mutex, or writes. Several readers hold together, and so do several
// permits: there AloneUntil counts only for what they exclude. Context has the values of
// the context with which the lock was asked for, but does not end with it.
// All its methods are safe to call from any goroutine.
type Hold struct {
	Leadership *Leadership // for functions that take one; end the hold by Unlock

	machine  *holdHandle
	revoked  chan struct{}
	unlocked *atomic.Bool
}

// Unlock releases the lock, and returns when its node is gone and another client may hold
// it. It has to be called once for every hold, also after it was lost: the node of a lost
// hold stays until then, if the session does.
//
// Errors: ErrNotHeld for a second call; ErrLeadershipLost if the hold was lost before, as
// far as is known here, so that another client may have held the lock meanwhile; the
// context's cause if it ends first: the deletion then goes on by itself, without a
// connection after the next one.
func (h *Hold) Unlock(ctx context.Context) error {
	h.Leadership.check(ctx)
	if !h.unlocked.CompareAndSwap(false, true) {
		return ErrNotHeld
	}
	lost := h.Leadership.Check()
	h.Leadership.Release()
	if lost != nil {
		return lost
	}
	select {
	case <-h.machine.commands.ended:
	case <-h.machine.client.closed:
	case <-ctx.Done():
		select {
		case <-h.machine.commands.ended:
		default:
			return fmt.Errorf("incumbent: unlock %s: %w", h.machine.path, context.Cause(ctx))
		}
	}
	return h.Leadership.term.lossErr()
}

// Release is Unlock without a wait and without an error.
func (h *Hold) Release() {
	h.Leadership.opened()
	h.unlocked.Store(true)
	h.Leadership.Release()
}

// Revoked returns a channel that is closed when another client has asked for the lock; see
// Mutex.Revoke. It stays open if the lock is not revocable.
func (h *Hold) Revoked() <-chan struct{} {
	h.Leadership.opened()
	return h.revoked
}

// Context returns a context that ends when the hold is lost, with a cause that is
// ErrLeadershipLost, and when it is unlocked. It has the values of the context with which
// the lock was asked for.
func (h *Hold) Context() context.Context { return h.Leadership.Context() }

// Token returns the own node's czxid: pass it to every store that the work writes to, and
// let the store refuse lower ones. See Leadership.Token.
func (h *Hold) Token() int64 { return h.Leadership.Token() }

// Term returns the hold's node, token and session.
func (h *Hold) Term() Term { return h.Leadership.Term() }

// ValidUntil returns the instant until which the lock may be believed to be held without
// another confirmation from the ensemble. See Leadership.ValidUntil.
func (h *Hold) ValidUntil() time.Time { return h.Leadership.ValidUntil() }

// AloneUntil returns the instant before which no other client can hold what this hold
// excludes, unless its node is deleted. See Leadership.AloneUntil.
func (h *Hold) AloneUntil() time.Time { return h.Leadership.AloneUntil() }

// Check returns nil while the lock may be believed to be held, and an error that is
// ErrLeadershipLost otherwise. It sends nothing. See Leadership.Check.
func (h *Hold) Check() error { return h.Leadership.Check() }

// Write commits all operations, or none, only if the own node still exists. See
// Leadership.Write for its errors.
func (h *Hold) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	return h.Leadership.Write(ctx, ops...)
}

// acquisition is what a lock asks of its machine.
type acquisition struct {
	recipe  string
	path    string
	options MutexOptions
	try     bool
	reads   bool // for a read-write lock's reader
	limit   int  // of a semaphore
	permits int  // wanted of a semaphore
}

// holdHandle is the handle of one acquisition's machine, which the holds of all locks have.
// The machine closes by itself: with the hold, or when it is refused.
type holdHandle struct {
	participant
	revoked chan struct{} // of the present hold; used by the loop
}

// acquire opens a machine that acquires one hold, and waits for its answer.
func (c *Client) acquire(ctx context.Context, a acquisition) (*Hold, error) {
	c.check(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	options := a.options.latch()
	h := &holdHandle{}
	h.prepare(c, a.path, options)
	h.holdsOnce = true
	open := options.open(a.path, c.config.RideOut)
	for name, on := range map[string]bool{"try": a.try, "revocable": a.options.Revocable, "kazoo": a.options.Kazoo, "reads": a.reads} {
		open.Options[name] = strconv.FormatBool(on)
	}
	if a.permits > 0 {
		open.Options["limit"], open.Options["permits"] = strconv.Itoa(a.limit), strconv.Itoa(a.permits)
	}
	if _, err := c.register(a.recipe, func(id events.ID) receiver {
		h.id = id
		return h
	}, open); err != nil {
		return nil, err
	}
	return h.held(h.await(ctx, context.WithoutCancel(ctx), h.abandon))
}

// held returns the Hold of a Leadership that was granted.
func (h *holdHandle) held(l *Leadership, err error) (*Hold, error) {
	if err != nil {
		return nil, err
	}
	return &Hold{Leadership: l, machine: h, revoked: h.revoked, unlocked: new(atomic.Bool)}, nil
}

// tryResult returns the outcome of a try: if others have the lock, that is no error.
func tryResult(h *Hold, err error) (*Hold, bool, error) {
	var refused *Error
	if errors.As(err, &refused) && refused.Code == events.Locked {
		return nil, false, nil
	}
	return h, err == nil, err
}

// abandon ends an acquisition that no call waits for any longer. If it is granted meanwhile,
// the handle is sealed, and the hold is released.
func (h *holdHandle) abandon(uint64) {
	h.seal()
	_, _, _ = h.commands.begin(h.client, h.id, events.Event{Kind: events.CommandClose})
}

// notice takes the machine's notices; on the loop's goroutine.
func (h *holdHandle) notice(n events.Notify) {
	switch n.What {
	case events.Granted:
		h.revoked = make(chan struct{})
		h.noteTerm(n)
	case events.Revoked:
		close(h.revoked)
	default:
		h.noteTerm(n)
	}
}

func (h *holdHandle) answer(a events.Answer) { h.deliver(a) }

func (h *holdHandle) entered(state string) { h.enterLine(state) }
