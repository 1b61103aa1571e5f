package incumbent

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// WriteHold is a read-write lock that is held for writing.
type WriteHold struct {
	Hold Hold // for functions that take one of any lock
}

func writing(h *Hold, err error) (*WriteHold, error) {
	if h == nil {
		return nil, err
	}
	return &WriteHold{*h}, err
}

// Downgrade turns the hold into one for reading, without unlocking in between: no other
// writer comes before it. Its place in the line stays, and so does the token, although the
// node is another one, as Participants shows. The call ends the hold for writing, as Unlock
// does: its Context ends before others may read. The new hold has to be unlocked.
//
// On any error nothing is held any longer, and the rest of the node is deleted, without a
// connection after the next one. Errors: ErrNotHeld for a hold that was unlocked or
// downgraded before; ErrLockLost if the hold was lost before or meanwhile, or there
// was no connection; ErrClosed; the context's.
func (h *WriteHold) Downgrade(ctx context.Context) (*Hold, error) {
	h.Hold.Leadership.check(ctx)
	if !h.Hold.unlocked.CompareAndSwap(false, true) {
		return nil, ErrNotHeld
	}
	m := h.Hold.machine
	n, ch := m.commands.reserve(&m.client.replies)
	m.byReturn.Store(n)
	h.Hold.Leadership.Release()
	read, err := m.held(m.receive(ctx, context.WithoutCancel(ctx), "downgrade", n, ch, m.abandon))
	if err == nil {
		return read, nil
	}
	return nil, asCallError("downgrade", m.path, h.downgradeErr(err))
}

// downgradeErr returns why a downgrade failed, for the machine's answer.
func (h *WriteHold) downgradeErr(err error) error {
	l, reason := h.Hold.Leadership, ReasonUnconfirmed
	if l.client.io.Current() != l.term.Session {
		reason = ReasonSessionOver
	}
	var answered *Error
	if errors.Is(err, ErrClosed) && !errors.As(err, &answered) { // by itself: the machine is closed
		return cmp.Or[error](l.term.lossErr(), l.client.lost(l.term, reason, 0))
	}
	return h.Hold.machine.asLost(err, reason)
}

// Unlock releases the lock, and returns when its node is gone and others may hold it. See
// Hold.Unlock for its errors.
func (h *WriteHold) Unlock(ctx context.Context) error { return h.Hold.Unlock(ctx) }

// Release is Unlock without a wait and without an error.
func (h *WriteHold) Release() { h.Hold.Release() }

// Revoked returns a channel that is closed when another client has asked for the lock; see
// Mutex.Revoke.
func (h *WriteHold) Revoked() <-chan struct{} { return h.Hold.Revoked() }

// Context returns a context that ends when the hold is lost, with a cause that is
// ErrLockLost, and when it is unlocked. It has the values of the context with which
// the lock was asked for.
func (h *WriteHold) Context() context.Context { return h.Hold.Context() }

// Token returns the own node's czxid: pass it to every store that the work writes to, and
// let the store refuse lower ones. See Leadership.Token.
func (h *WriteHold) Token() int64 { return h.Hold.Token() }

// Term returns the hold's node, token and session.
func (h *WriteHold) Term() Term { return h.Hold.Term() }

// ValidUntil returns the instant until which the lock may be believed to be held without
// another confirmation from the ensemble. See Leadership.ValidUntil.
func (h *WriteHold) ValidUntil() time.Time { return h.Hold.ValidUntil() }

// AloneUntil returns the instant before which no other client can hold what this hold
// excludes, unless its node is deleted. See Leadership.AloneUntil.
func (h *WriteHold) AloneUntil() time.Time { return h.Hold.AloneUntil() }

// Check returns nil while the lock may be believed to be held, and an error that is
// ErrLockLost otherwise. It sends nothing. See Leadership.Check.
func (h *WriteHold) Check() error { return h.Hold.Check() }

// Write commits all operations, or none, only if the own node still exists. See
// Leadership.Write for its errors.
func (h *WriteHold) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	return h.Hold.Write(ctx, ops...)
}
