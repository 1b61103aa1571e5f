package incumbent

import (
	"context"
	"errors"
	"fmt"
	"time"

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
	// TokenFloor refuses a hold with a token below it: see LatchOptions.
	TokenFloor int64
	// Kazoo puts a mutex in the line of kazoo's Lock, on kazoo's names, and not in
	// Curator's; a read-write lock in that of its ReadLock and WriteLock. The two lines do
	// not see each other: all that are to exclude each other have to be in one.
	Kazoo bool
	// Plain puts a mutex in the line of the lock of ZooKeeper's recipes page, as many programs have written it by hand:
	// the nodes' names are Prefix and a number, without a GUID. The client finds its own node by the session that owns
	// it, as in Election, so it has one place in such a line at a time: while it has one, a Lock waits without a node in
	// the line, and a TryLock returns false. Hold.Write is refused with ErrPlainName. A read-write lock cannot be plain.
	// The program must not create nodes of such names by other requests of this client: after a lost reply, one that
	// existed before may be taken for the own one.
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
	if err := checkPath(path); err != nil {
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
		return errors.New("incumbent: MutexOptions.Plain is set for a read-write lock: its names say who reads, so it has Curator's or kazoo's")
	case o.Plain && o.Kazoo:
		return errors.New("incumbent: MutexOptions.Plain and Kazoo are both set: a mutex is in one line, so set one of them")
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
	return m.client.acquire(ctx, acquisition{op: lockOp(false, try), recipe: machines.MutexRecipe.Name(), path: m.path, options: m.options, try: try})
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
