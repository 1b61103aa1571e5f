package incumbent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/machines"
)

// ReadWriteLock is a lock that one writer has, or any number of readers, in all processes
// that use the same path. It is fair: first come, first served. A reader waits for the
// writers before it, and not for readers; a writer waits for all participants before it. It
// is Curator's InterProcessReadWriteLock, on the same names: Go and Java can use one lock.
//
// Every call of Lock or RLock is an acquisition of its own: there is no owner, and a Lock
// waits for an RLock of the same goroutine. ReadWriteHolder is for code that locks again
// what its caller holds. A writer may become a reader without unlocking:
// WriteHold.Downgrade. A reader cannot become a writer.
//
// Tokens order the writers among themselves, and each reader between the writers before and
// after it. Readers that hold at the same time have different tokens, and their order means
// nothing: a store that refuses what is lower than it has seen has to compare a reader's
// token with those of writers only.
// All its methods are safe to call from any goroutine.
type ReadWriteLock struct {
	client  *Client
	path    string
	options MutexOptions
}

// ReadWriteLock returns a read-write lock at path. If the directory is missing, the first
// Lock or RLock creates it. ReadWriteLock sends nothing to the ensemble. The error says
// what is wrong with the path.
func (c *Client) ReadWriteLock(path string, options MutexOptions) (*ReadWriteLock, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if err := options.checkNames(path, false); err != nil {
		return nil, err
	}
	return &ReadWriteLock{client: c, path: path, options: options}, nil
}

// Path returns the lock's directory.
func (l *ReadWriteLock) Path() string { return l.path }

// Lock waits until the lock is held for writing. Context, errors and what is left
// behind are as for Mutex.Lock.
func (l *ReadWriteLock) Lock(ctx context.Context) (*WriteHold, error) {
	return writing(l.acquire(ctx, false, false))
}

// TryLock is Lock without a wait for others, as Mutex.TryLock is.
func (l *ReadWriteLock) TryLock(ctx context.Context) (*WriteHold, bool, error) {
	h, held, err := tryResult(l.acquire(ctx, false, true))
	w, err := writing(h, err)
	return w, held, err
}

// RLock waits until the lock is held for reading. Context, errors and what is left
// behind are as for Mutex.Lock.
func (l *ReadWriteLock) RLock(ctx context.Context) (*Hold, error) { return l.acquire(ctx, true, false) }

// TryRLock is RLock without a wait for others: it returns false, with no error, if another
// client holds the lock for writing, or waits to. Otherwise it is as Mutex.TryLock.
func (l *ReadWriteLock) TryRLock(ctx context.Context) (*Hold, bool, error) {
	return tryResult(l.acquire(ctx, true, true))
}

func (l *ReadWriteLock) acquire(ctx context.Context, reads, try bool) (*Hold, error) {
	return l.client.acquire(ctx, acquisition{op: lockOp(reads, try), recipe: machines.ReadWriteRecipe, path: l.path,
		options: l.options, sides: true, reads: reads, try: try})
}

// lockOp returns the method of a read-write lock in words.
func lockOp(reads, try bool) string {
	op := "lock"
	if reads {
		op = "rlock"
	}
	if try {
		op = "try " + op
	}
	return op
}

// Participants returns those that hold the lock or wait for it, in queue order; see
// Client.Line. Each one's Prefix shows its side: "__READ__" or "__WRIT__", and on kazoo's
// names "__rlock__" or "__lock__". Those that hold it have First set.
func (l *ReadWriteLock) Participants(ctx context.Context) ([]Participant, error) {
	labels := []string{machines.ReadLabel, machines.WriteLabel}
	if l.options.Kazoo {
		labels = []string{machines.KazooReadLabel, machines.KazooLabel}
	}
	line, err := l.client.lineOf(ctx, l.path, labels...)
	return line.Participants, err
}

// Revoke asks a participant to release the lock, as Mutex.Revoke does.
func (l *ReadWriteLock) Revoke(ctx context.Context, p Participant) error {
	return l.client.revoke(ctx, p)
}

// Reader returns the lock's reading side, for a MultiLock.
func (l *ReadWriteLock) Reader() Lockable { return side{lock: l, reads: true} }

// Writer returns the lock's writing side, for a MultiLock.
func (l *ReadWriteLock) Writer() Lockable { return side{lock: l} }

type side struct {
	lock  *ReadWriteLock
	reads bool
}

func (s side) Path() string { return s.lock.Path() }

func (s side) Lock(ctx context.Context) (*Hold, error) { return s.lock.acquire(ctx, s.reads, false) }

func (s side) TryLock(ctx context.Context) (*Hold, bool, error) {
	return tryResult(s.lock.acquire(ctx, s.reads, true))
}

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
		why := calls.NotAsked(h.guard)
		return nil, false, h.lock.client.core.Explain(ctx, lockOp(reads, try), h.lock.path, err, why)
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
	n, ch := m.base.Commands.Reserve(&m.client.core.Commands)
	m.byReturn.Store(n)
	h.Hold.Leadership.Release()
	read, err := m.held(m.receive(ctx, m.workContext(ctx), "downgrade", n, ch, m.abandon))
	if err == nil {
		return read, nil
	}
	return nil, calls.AsError("downgrade", m.Path(), h.downgradeErr(err))
}

// downgradeErr returns why a downgrade failed, for the machine's answer.
func (h *WriteHold) downgradeErr(err error) error {
	l, reason := h.Hold.Leadership, ReasonUnconfirmed
	if l.client.core.IO.Current() != l.term.Session {
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
