package incumbent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/machines"
)

// Hold is a lock that is held, until Unlock or until it is lost: by the end of the session
// or the deletion of its node, by a disconnect (unless Config.RideOut), or because no
// confirmation came in time. A hold that is lost does not come back: Context ends with a
// cause that is ErrLockLost, the work under it has to stop, and Unlock returns that it was
// lost. The error is a *LostError, which says why. It is ErrLeadershipLost, too.
//
// Check, Token, ValidUntil and Write are those of every Leadership. Before AloneUntil no
// other client holds a mutex, or writes. Several readers hold together, and so do several
// permits: there AloneUntil counts only for what they exclude. Context has the values of
// the context with which the lock was asked for, but does not end with it, unless
// MutexOptions.EndsWithContext is set.
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
// Errors: ErrNotHeld for a second call; ErrLockLost if the hold was lost before, as
// far as is known here, so that another client may have held the lock meanwhile; the
// context's if it ends first: the deletion then goes on by itself, without a
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
	case <-h.machine.base.Commands.Ended():
	case <-h.machine.client.core.Closed:
	case <-ctx.Done():
		select {
		case <-h.machine.base.Commands.Ended():
		default:
			return h.machine.base.Explain(ctx, "unlock", context.Cause(ctx))
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
// ErrLockLost, and when it is unlocked. It has the values of the context with which
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
// ErrLockLost otherwise. It sends nothing. See Leadership.Check.
func (h *Hold) Check() error { return h.Leadership.Check() }

// Write commits all operations, or none, only if the own node still exists. See
// Leadership.Write for its errors.
func (h *Hold) Write(ctx context.Context, ops ...Op) ([]OpResult, error) {
	return h.Leadership.Write(ctx, ops...)
}

// acquisition is what a lock asks of its machine.
type acquisition struct {
	op      string // for the error
	recipe  engine.Recipe
	path    string
	options MutexOptions
	try     bool
	sides   bool // of a read-write lock
	reads   bool // for a read-write lock's reader
	limit   int  // of a semaphore
	permits int  // wanted of a semaphore
}

// holdHandle is the handle of one acquisition's machine, which the holds of all locks have.
// The machine closes by itself: with the hold, or when it is refused.
type holdHandle struct {
	participant
	revoked        chan struct{} // of the present hold; used by the loop
	asked          bool          // revoked is closed; used by the loop
	permits, total int           // of a semaphore: how many are wanted, of how many
	free           bool          // the place of a plain name was freed

	bound context.Context // ends the hold; nil: none does
}

// acquire opens a machine that acquires one hold, and waits for its answer.
func (c *Client) acquire(ctx context.Context, a acquisition) (*Hold, error) {
	c.check(ctx)
	if ctx.Err() != nil {
		return nil, c.core.Explain(ctx, a.op, a.path, context.Cause(ctx), calls.NotBegun)
	}
	options := a.options.latch()
	h := &holdHandle{permits: a.permits, total: a.limit}
	h.prepare(c, a.path, options)
	h.what, h.sides = whatLock, a.sides
	if a.permits > 0 {
		h.what = whatPermits
	}
	open := options.open(a.path, c.config)
	a.addOptions(open.Options)
	if a.permits > 0 {
		h.base.Diagnostics = permitDiagnostics{h}
	}
	if err := h.takePlace(ctx, a, open); err != nil {
		return nil, err
	}
	if _, err := c.register(a.recipe, func(id events.ID) receiver {
		h.base.Machine = id
		return h
	}, open); err != nil {
		h.freePlace()
		return nil, calls.AsError(a.op, a.path, err)
	}
	if a.options.EndsWithContext {
		h.bound = boundOf(ctx)
	}
	hold, err := h.held(h.await(ctx, h.workContext(ctx), a.op, h.abandon))
	return hold, h.asLost(err, ReasonNodeGone)
}

// waitContext is the context of a wait that has another end than the caller's, which bounds the hold.
type waitContext struct {
	context.Context
	caller context.Context
}

// boundOf returns the context that the caller of a lock gave.
func boundOf(ctx context.Context) context.Context {
	if w, ok := ctx.(waitContext); ok {
		return w.caller
	}
	return ctx
}

// workContext returns what the contexts of holds derive from.
func (h *holdHandle) workContext(ctx context.Context) context.Context {
	if h.bound != nil {
		return h.bound
	}
	return context.WithoutCancel(ctx)
}

// endWithBound begins the grace of the work when the context that bounds the hold ends.
func (h *holdHandle) endWithBound(l *Leadership) {
	context.AfterFunc(l.ctx, func() {
		if cause := context.Cause(h.bound); cause != nil {
			l.term.interruptOne(l, cause)
		}
	})
}

// takePlace waits until no other acquisition of this client is in the line, if the line has plain names.
func (h *holdHandle) takePlace(ctx context.Context, a acquisition, open events.Event) error {
	if !a.options.Plain {
		return nil
	}
	h.plain, h.prefix = true, a.options.Prefix
	open.Options[machines.OptionPrefix] = a.options.Prefix
	place := plainPlace(a.path, a.options.Prefix)
	if a.try {
		if !h.client.reserve(place) {
			return &Error{events.Locked, a.path}
		}
		return nil
	}
	if err := h.client.core.Places.ReserveWhenFree(ctx, h.client.core.Closed, place); err != nil {
		return h.client.core.Explain(ctx, a.op, a.path, err, func() error { return errOwnPlace })
	}
	return nil
}

// errOwnPlace is what a Lock of a plain mutex waits for, before it has a node.
var errOwnPlace = errors.New("waiting for this client's other place in the line, because names without a GUID allow " +
	"one for each client: unlock that hold, or open another Client")

// freePlace lets the next acquisition of this client into a line of plain names. A second call does nothing.
func (h *holdHandle) freePlace() {
	if h.plain && !h.free {
		h.free = true
		h.client.core.Places.Free(plainPlace(h.Path(), h.prefix))
	}
}

// held returns the Hold of a Leadership that was granted.
func (h *holdHandle) held(l *Leadership, err error) (*Hold, error) {
	if err != nil {
		return nil, err
	}
	if h.bound != nil {
		h.endWithBound(l)
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
	_, _, _ = h.base.Begin(events.Event{Kind: events.CommandClose})
}

// notice takes the machine's notices; on the loop's goroutine.
func (h *holdHandle) notice(n events.Notify) {
	switch n.What {
	case events.Granted:
		h.revoked, h.asked = make(chan struct{}), false
		h.noteTerm(n)
	case events.Revoked:
		h.asked = true
		close(h.revoked)
	case events.Stopped:
		if h.asked && n.Reason == events.ReasonReturned {
			n.Reason = events.ReasonRevoked
		}
		h.noteTerm(n)
	default:
		h.noteTerm(n)
	}
}

// answer delivers an answer; on the loop's goroutine. A try that only listed the line has no place when its call
// returns.
func (h *holdHandle) answer(a events.Answer) {
	if a.Code == events.Locked && h.Class() == events.ClassLooking {
		h.freePlace()
	}
	h.base.Deliver(a)
}

func (h *holdHandle) entered(now events.Entered) {
	if now.Class == events.ClassClosed {
		h.freePlace()
	}
	h.enterLine(now)
}

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
		return nil, false, h.mutex.client.core.Explain(ctx, op, h.mutex.path, err, calls.NotAsked(h.guard))
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

func (h *holdHandle) asParticipant() *participant { return &h.participant }

// asLost returns the LostError of a hold that was lost before the caller had it, for the
// machine's refusal; every other error as it is.
func (h *holdHandle) asLost(err error, reason Reason) error {
	refused, ok := err.(*Error)
	if !ok || refused.Code != events.LeadershipLost {
		return err
	}
	lost := &LostError{Reason: reason, What: h.what, Path: h.Path(), BelievedUntil: clock.Wall(0)}
	if reason == ReasonUnconfirmed {
		lost.detail = refused.Text
	}
	return lost
}
