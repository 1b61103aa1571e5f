package incumbent

import (
	"context"

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
	if err := checkPath(path); err != nil {
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
	return l.client.acquire(ctx, acquisition{op: lockOp(reads, try), recipe: machines.ReadWriteRecipe.Name(), path: l.path, options: l.options, reads: reads, try: try})
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
