package incumbent

import (
	"context"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// MutexOptions shape a mutex, or a read-write lock. The zero value is good.
type MutexOptions struct {
	// ID is what other participants see of this one: the data of the node.
	ID string
	// Retry paces attempts after a failure that passes by itself. By default they
	// go on until the lock's context ends; a policy that gives up ends the Lock
	// with the failure.
	Retry RetryPolicy
	// WorkGrace is how long a hold that was lost, or is closed by the client, may
	// go without Unlock before the node is deleted all the same: that is logged.
	// Zero, the default, waits for ever.
	WorkGrace time.Duration
	// TokenFloor refuses a hold with a token below it: see LatchOptions.
	TokenFloor int64
	// Kazoo has a mutex stand in the line of kazoo's Lock, on kazoo's names, and
	// not in Curator's; a read-write lock in that of its ReadLock and WriteLock. The
	// two lines do not see each other: all who are to exclude each other have to
	// stand in one.
	Kazoo bool
	// Revocable has holds hear of Mutex.Revoke, and of Curator's Revoker: see
	// Hold.Revoked. It takes writing to the own node for somebody asking.
	Revocable bool
}

func (o MutexOptions) latch() LatchOptions {
	return LatchOptions{ID: o.ID, Retry: o.Retry, WorkGrace: o.WorkGrace, TokenFloor: o.TokenFloor}
}

// Mutex is a lock that one holder at a time has, in all processes that use the
// same path, first come, first served. It is Curator's InterProcessMutex, on the
// same names: Go and Java may share one lock, and so may a Selector, which
// stands in the same line.
//
// Every Lock is an acquisition of its own: a Mutex has no owner, and a second
// Lock waits for the first one's Unlock, in the same goroutine too. Holder is
// for code that locks again what its caller holds.
//
// All its methods are safe to call from any goroutine.
type Mutex struct {
	client  *Client
	path    string
	options MutexOptions
}

// Mutex makes a mutex on a path: a directory that is made when it is missing. It
// asks nothing of the ensemble. The error says what is wrong with the path.
func (c *Client) Mutex(path string, options MutexOptions) (*Mutex, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	return &Mutex{client: c, path: path, options: options}, nil
}

// Path is the lock's directory.
func (m *Mutex) Path() string { return m.path }

// Lock waits until the lock is held. The context bounds the wait, and nothing
// else: the hold outlives it. A Lock that fails leaves nothing behind; without a
// connection its node is deleted after the next one.
//
// Errors: the context's cause; ErrClosed; or what stands in the way and does not
// pass by itself (ErrNoAuth, ErrPersistentNode, ErrCounterEnd, …).
func (m *Mutex) Lock(ctx context.Context) (*Hold, error) { return m.acquire(ctx, false) }

// TryLock is Lock without a wait for others: false, with no error, when somebody
// holds the lock or waits for it. Then one read was asked for and nothing
// written, unless somebody was faster in the moment between. Without a
// connection it waits for one, as long as the context lasts.
func (m *Mutex) TryLock(ctx context.Context) (*Hold, bool, error) {
	return tryResult(m.acquire(ctx, true))
}

func (m *Mutex) acquire(ctx context.Context, try bool) (*Hold, error) {
	return m.client.acquire(ctx, acquisition{recipe: machines.MutexRecipe.Name(), path: m.path, options: m.options, try: try})
}

// Participants are those who hold the lock and wait for it, in queue order; see
// Client.Line. Selectors on the same path are among them.
func (m *Mutex) Participants(ctx context.Context) ([]Participant, error) {
	label := machines.LockLabel
	if m.options.Kazoo {
		label = machines.KazooLabel
	}
	line, err := m.client.lineOf(ctx, m.path, label)
	return line.Participants, err
}

// Revoke asks a participant to let the lock go: it writes Curator's "__REVOKE__"
// to its node, in the place of its ID. A holder that is revocable is told, and
// decides by itself when it unlocks; nobody else hears anything.
//
// The participant is one that Participants told. Errors as those of Client.Evict.
func (m *Mutex) Revoke(ctx context.Context, p Participant) error { return m.client.revoke(ctx, p) }
