package incumbent

import (
	"context"
	"fmt"
	"time"
)

// WriteHold is a read-write lock that is held for writing.
type WriteHold struct {
	Hold Hold // for what takes one of any lock
}

func writing(h *Hold, err error) (*WriteHold, error) {
	if h == nil {
		return nil, err
	}
	return &WriteHold{*h}, err
}

// Downgrade turns the hold into one for reading, without letting go in between: no
// other writer comes before it. Its place in the line stays, and so does the token,
// although the node is another one, as Participants show. The hold for writing ends
// by the call, as by Unlock: its Context ends before others may read. The new one
// has to be unlocked.
//
// Whatever the error is, nothing is held any more, and what is left of the node is
// deleted, without a connection after the next one: ErrNotHeld for a hold that was
// unlocked or downgraded before; ErrLeadershipLost when the hold was lost before or
// meanwhile, or there was no connection; ErrClosed; the context's cause.
func (h *WriteHold) Downgrade(ctx context.Context) (*Hold, error) {
	h.Hold.Leadership.check(ctx)
	if !h.Hold.unlocked.CompareAndSwap(false, true) {
		return nil, ErrNotHeld
	}
	m := h.Hold.machine
	n, ch := m.commands.reserve()
	m.byReturn.Store(n)
	h.Hold.Leadership.Release()
	read, err := m.held(m.receive(ctx, context.WithoutCancel(ctx), n, ch, m.abandon))
	switch err {
	case nil:
		return read, nil
	case ErrClosed: // by itself: the machine is over
		err = ErrLeadershipLost
	}
	return nil, fmt.Errorf("incumbent: downgrade %s: %w", h.Hold.Leadership.term.Path, err)
}

// Unlock lets the lock go, and returns when its node is gone and others may hold it.
// See Hold.Unlock for its errors.
func (h *WriteHold) Unlock(ctx context.Context) error { return h.Hold.Unlock(ctx) }

// Release is Unlock without waiting for it, and without an answer.
func (h *WriteHold) Release() { h.Hold.Release() }

// Revoked is closed when somebody has asked for the lock; see Mutex.Revoke.
func (h *WriteHold) Revoked() <-chan struct{} { return h.Hold.Revoked() }

// Context ends when the hold is lost, with a cause that is ErrLeadershipLost, and when
// it is unlocked. It carries the values of the context that the lock was asked for with.
func (h *WriteHold) Context() context.Context { return h.Hold.Context() }

// Token is the own node's czxid: pass it to every store that the work writes to, and
// let the store refuse lower ones. See Leadership.Token.
func (h *WriteHold) Token() int64 { return h.Hold.Token() }

// Term is the hold's node, token and session.
func (h *WriteHold) Term() Term { return h.Hold.Term() }

// ValidUntil is the instant until which the lock may be believed to be held without
// hearing from the ensemble again. See Leadership.ValidUntil.
func (h *WriteHold) ValidUntil() time.Time { return h.Hold.ValidUntil() }

// AloneUntil is the instant before which nobody can hold what this hold excludes,
// unless its node is deleted. See Leadership.AloneUntil.
func (h *WriteHold) AloneUntil() time.Time { return h.Hold.AloneUntil() }

// Check returns nil while the lock may be believed to be held, and an error that is
// ErrLeadershipLost otherwise. It sends nothing. See Leadership.Check.
func (h *WriteHold) Check() error { return h.Hold.Check() }

// Write commits all operations, or none, only if the own node still exists. See
// Leadership.Write for its errors.
func (h *WriteHold) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	return h.Hold.Write(ctx, ops...)
}
