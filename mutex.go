package incumbent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/caller"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// MutexOptions are the options of a mutex or a read-write lock. The zero value is good.
type MutexOptions struct {
	// ID is how other participants see this one: the data of the node.
	ID string
	// Retry paces attempts after a transient failure. By default they go on until the
	// context of Lock ends; if a policy gives up, Lock returns the failure.
	Retry RetryPolicy
	// WorkGrace is how long a hold that was lost, or is closed by the client, may stay
	// without Unlock. After that the node is deleted although Unlock was not called, and
	// the log says so. Zero, the default, means no limit.
	WorkGrace time.Duration
	// EndsWithContext makes the context of Lock bound the hold, too, and not the wait alone. When it ends, Hold.Context
	// ends with its cause, and the work has to Unlock, after which the node is deleted. WorkGrace counts from then on.
	EndsWithContext bool
	// TokenFloor refuses a hold with a token below it: see LatchOptions.
	TokenFloor int64
	// Kazoo puts a mutex in the line of kazoo's Lock, on kazoo's names, and not in
	// Curator's; a read-write lock in that of its ReadLock and WriteLock. The two lines do
	// not see each other: all that are to exclude each other have to be in one.
	Kazoo bool
	// Plain puts a mutex in the line of the lock of ZooKeeper's recipes page, as many programs have written it by hand:
	// the nodes' names are Prefix and a number, without a GUID. The client finds its own node by the session that owns
	// it, as in Election, so it has one place in such a line at a time: while it has one, a Lock waits without a node
	// in the line, and a TryLock returns false. Hold.Write is refused with ErrPlainName. A read-write lock cannot be
	// plain. The program must not create nodes of such names by other requests of this client: after a lost reply, one
	// that existed before may be taken for the own one.
	Plain bool
	// Prefix is what precedes the number in the names of a plain mutex, as in "lock-" or "n_". With an empty one the
	// names are only a number.
	Prefix string
	// Revocable makes holds react to Mutex.Revoke, and to Curator's Revoker: see
	// Hold.Revoked. The client that asks needs the right to write to the own node.
	Revocable bool
}

func (o MutexOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, Retry: o.Retry, WorkGrace: o.WorkGrace, TokenFloor: o.TokenFloor}
}

// Mutex is a lock that has one holder at a time, in all processes that use the same path,
// first come, first served. It is Curator's InterProcessMutex, on the same names: Go and
// Java can use one lock, and a Selector can be in the same line.
//
// Every Lock is an acquisition of its own: a Mutex has no owner, and a second Lock waits
// for the first one's Unlock, in the same goroutine too. Holder is for code that locks
// again what its caller holds.
//
// All its methods are safe to call from any goroutine.
type Mutex struct {
	client  *Client
	path    string
	options MutexOptions
}

// Mutex returns a mutex at path. If the directory is missing, the first Lock creates it.
// Mutex sends nothing to the ensemble. The error says what is wrong with the path.
func (c *Client) Mutex(path string, options MutexOptions) (*Mutex, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	if err := options.checkNames(path, true); err != nil {
		return nil, err
	}
	return &Mutex{client: c, path: path, options: options}, nil
}

// checkNames returns an error if the options of the names contradict each other, or a read-write lock has those of
// plain names.
func (o MutexOptions) checkNames(path string, mayBePlain bool) error {
	switch {
	case o.Plain && !mayBePlain:
		return errors.New("incumbent: MutexOptions.Plain is set for a read-write lock: its names say who reads, so " +
			"it has Curator's or kazoo's")
	case o.Plain && o.Kazoo:
		return errors.New("incumbent: MutexOptions.Plain and Kazoo are both set: a mutex is in one line, so set one " +
			"of them")
	case o.Prefix != "" && !o.Plain:
		return fmt.Errorf("incumbent: MutexOptions.Prefix is %s without Plain: set Plain too, or no Prefix",
			fault.Quoted(o.Prefix))
	case o.Plain:
		return CheckPath(path, o.Prefix)
	}
	return nil
}

// Path returns the lock's directory.
func (m *Mutex) Path() string { return m.path }

// Lock waits until the lock is held. The context bounds the wait, and nothing else: the
// hold outlives it. A Lock that fails leaves nothing behind; without a connection its node
// is deleted after the next one.
//
// Errors: the context's, which says who is ahead in the line or what else Lock waited for;
// ErrClosed; or a failure that does not pass by itself (ErrNoAuth, ErrPersistentNode,
// ErrCounterEnd, …).
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) { return m.acquire(ctx, false) }

// TryLock is Lock without a wait for others: it returns false, with no error, if another
// client holds the lock or waits for it. Then it has sent one read and written nothing,
// unless another client was faster in the moment between. Without a connection it waits for
// one until the context ends.
func (m *Mutex) TryLock(ctx context.Context) (*Hold, bool, error) {
	return tryResult(m.acquire(ctx, true))
}

func (m *Mutex) acquire(ctx context.Context, try bool) (*Hold, error) {
	return m.client.acquire(ctx, acquisition{op: lockOp(false, try), recipe: machines.MutexRecipe, path: m.path,
		options: m.options, try: try})
}

// Participants returns those that hold the lock or wait for it, in queue order; see
// Client.Line. Selectors on the same path are among them.
func (m *Mutex) Participants(ctx context.Context) ([]Participant, error) {
	label := machines.LockLabel
	switch {
	case m.options.Kazoo:
		label = machines.KazooLabel
	case m.options.Plain:
		label = m.options.Prefix
	}
	line, err := m.client.lineOf(ctx, m.path, label)
	return line.Participants, err
}

// Revoke asks a participant to release the lock: it writes Curator's "__REVOKE__" to its
// node, in place of its ID. If the holder is revocable, its Hold.Revoked is closed, and it
// decides by itself when it unlocks; any other participant ignores it.
//
// Pass a participant that Participants returned. Errors as those of Client.Evict.
func (m *Mutex) Revoke(ctx context.Context, p Participant) error { return m.client.revoke(ctx, p) }

// Lockable is what a MultiLock consists of: a *Mutex, permits of a Semaphore (Permits), a
// side of a ReadWriteLock (Reader, Writer), or any other type that gives a Hold. Locks are
// told apart, and ordered, by their paths.
type Lockable interface {
	Path() string
	Lock(ctx context.Context) (*Hold, error)
	TryLock(ctx context.Context) (*Hold, bool, error)
}

// MultiLock is several locks as one: all are held, or none. It is Curator's
// InterProcessMultiLock, with one budget of time for all.
//
// The locks are taken one after the other, in the order of their paths, not in the order in
// which they were given: so two callers with locks in common never wait for each other in a
// circle. That holds for all callers that take them through a MultiLock and whose clients
// have the same chroot.
//
// All its methods are safe to call from any goroutine.
type MultiLock struct{ locks []Lockable }

// NewMultiLock returns one lock of several, of one client or of many. The error says that
// there is none, that one is nil, or that two have one path: those would wait for each
// other. Lock finds out whether a lock can be held at all (more permits than the limit:
// ErrPermits).
func NewMultiLock(locks ...Lockable) (*MultiLock, error) {
	if len(locks) == 0 {
		return nil, errors.New("incumbent: a multi-lock has no locks: give at least one")
	}
	for i, l := range locks {
		if l == nil {
			return nil, fmt.Errorf("incumbent: lock %d of a multi-lock is nil: want a Mutex, a Semaphore's Permits, "+
				"or a side of a ReadWriteLock", i)
		}
	}
	sorted := slices.SortedFunc(slices.Values(locks), func(a, b Lockable) int {
		return cmp.Compare(a.Path(), b.Path())
	})
	for i, l := range sorted[1:] {
		if l.Path() == sorted[i].Path() {
			return nil, fmt.Errorf("incumbent: a multi-lock with %s twice: it would wait for itself",
				fault.Path(l.Path()))
		}
	}
	return &MultiLock{sorted}, nil
}

// Lock waits until all locks are held. The context bounds the wait for all of them
// together, and nothing else. At the first failure it asks for no more, releases what it
// holds, and returns the error with the lock's path: see Mutex.Lock. Nothing is left
// behind. If one is lost during the wait for the next, that is a failure, too:
// ErrLockLost.
func (m *MultiLock) Lock(ctx context.Context) (*MultiHold, error) {
	hold, _, err := m.acquire(ctx, func(ctx context.Context, l Lockable) (*Hold, bool, error) {
		h, err := l.Lock(ctx)
		return h, err == nil, err
	})
	return hold, err
}

// TryLock is Lock without a wait for others: it returns false, with no error, if one of the
// locks is not free; those before it were held for a moment.
func (m *MultiLock) TryLock(ctx context.Context) (*MultiHold, bool, error) {
	return m.acquire(ctx, func(ctx context.Context, l Lockable) (*Hold, bool, error) { return l.TryLock(ctx) })
}

// acquire takes one lock after the other. The wait for the next ends when one that is held
// already is lost.
func (m *MultiLock) acquire(ctx context.Context, lock func(context.Context, Lockable) (*Hold, bool, error),
) (*MultiHold, bool, error) {
	if len(m.locks) == 0 {
		caller.Misuse("was called on a zero value: NewMultiLock makes what can be locked")
	}
	caller.NeedContext(ctx)
	hold := newMultiHold(context.WithoutCancel(ctx))
	wait, end := context.WithCancelCause(ctx)
	defer end(nil)
	context.AfterFunc(hold.ctx, func() { end(context.Cause(hold.ctx)) })
	for _, l := range m.locks {
		h, held, err := lock(waitContext{wait, boundOf(ctx)}, l)
		lost := hold.Check()
		switch {
		case err == nil && held:
			hold.add(h)
			continue
		case err != nil && lost != nil:
			err = lost
		case err != nil:
			err = withLockPath(l.Path(), err)
		}
		_ = hold.Unlock(ctx) // a lost one is unlocked, too
		return nil, false, err
	}
	if err := hold.Check(); err != nil {
		_ = hold.Unlock(ctx)
		return nil, false, err
	}
	return hold, true, nil
}

// unlock releases the last one first, so that no other client gets a lock whose successor
// in the order is not free yet.
func unlock(ctx context.Context, holds []*Hold) error {
	var errs []error
	for _, h := range slices.Backward(holds) {
		if err := h.Unlock(ctx); err != nil {
			errs = append(errs, withLockPath(h.machine.Path(), err))
		}
	}
	return fault.Together(errs...)
}

// MultiHold is all locks of a MultiLock, held until Unlock or until one of them is lost:
// then Context ends, and the work under it has to stop. The others stay held until Unlock.
//
// All its methods are safe to call from any goroutine.
type MultiHold struct {
	holds    []*Hold
	ctx      context.Context
	cancel   context.CancelCauseFunc
	unlocked atomic.Bool
}

func newMultiHold(ctx context.Context) *MultiHold {
	m := &MultiHold{}
	m.ctx, m.cancel = context.WithCancelCause(ctx)
	return m
}

// add adds one more lock, before any other goroutine has the hold.
func (m *MultiHold) add(h *Hold) {
	m.holds = append(m.holds, h)
	context.AfterFunc(h.Context(), func() { m.cancel(withLockPath(h.machine.Path(), context.Cause(h.Context()))) })
}

// withLockPath adds the lock's path to an error, unless the error has it.
func withLockPath(path string, err error) error {
	if e, explained := err.(*calls.Error); explained {
		return &calls.Error{Op: "multi-lock", Reasons: []error{e}}
	}
	if lost, ok := err.(*LostError); ok && lost.Path == path {
		return &calls.Error{Op: "multi-lock", Reasons: []error{lost}}
	}
	return &calls.Error{Op: "multi-lock", Path: path, Reasons: []error{err}}
}

// Context returns a context that ends when one of the locks is lost, with a cause that is
// ErrLockLost and names the lock. It has the values of the context with which the
// locks were asked for.
func (m *MultiHold) Context() context.Context {
	m.opened()
	return m.ctx
}

func (m *MultiHold) opened() {
	if m.cancel == nil {
		caller.Misuse("was called on a zero value: MultiLock.Lock makes one that is held")
	}
}

// Check returns nil while all locks may be believed to be held. Otherwise its error is
// ErrLockLost and names the lock that was lost: see Leadership.Check. Once it has
// returned an error it never returns nil again.
func (m *MultiHold) Check() error {
	m.opened()
	for _, h := range m.holds {
		if err := h.Check(); err != nil {
			return withLockPath(h.machine.Path(), err)
		}
	}
	return nil
}

// Holds returns the holds of the single locks, in the order of their paths: each has a
// Token for the stores that it protects. Do not unlock them one by one.
func (m *MultiHold) Holds() []*Hold { return slices.Clone(m.holds) }

// Unlock releases all locks, and returns when others may hold them. It has to be called
// once, also after one was lost.
//
// Errors: ErrNotHeld for a second call; or what Hold.Unlock returned for some, joined, each
// with its path. All others are released nevertheless.
func (m *MultiHold) Unlock(ctx context.Context) error {
	m.opened()
	caller.NeedContext(ctx)
	if !m.unlocked.CompareAndSwap(false, true) {
		return ErrNotHeld
	}
	m.cancel(context.Canceled)
	return unlock(ctx, m.holds)
}

// addOptions adds what the machine reads of the acquisition.
func (a acquisition) addOptions(to map[string]string) {
	flag := func(name string, on bool) { to[name] = strconv.FormatBool(on) }
	flag(machines.OptionTry, a.try)
	flag(machines.OptionKazoo, a.options.Kazoo)
	if a.permits > 0 {
		to[machines.OptionLimit], to[machines.OptionPermits] = strconv.Itoa(a.limit), strconv.Itoa(a.permits)
		return
	}
	flag(machines.OptionRevocable, a.options.Revocable)
	if a.sides {
		flag(machines.OptionReads, a.reads)
	}
}
