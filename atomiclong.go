package incumbent

import (
	"context"
	"errors"
	"fmt"

	"github.com/incumbent-go/incumbent/internal/fault"
)

// AtomicLongOptions are the options of an atomic long. The zero value is good.
type AtomicLongOptions struct {
	// Conflicts is how often another client may write first before an operation goes on
	// under the lock, or gives up if there is none. Default 10; -1 means 0. A back-off with
	// jitter follows each conflict.
	Conflicts int `negative:"none"`
	// Lock is the directory of a mutex, under which an operation goes on after too many
	// conflicts. "" means none. Not all clients need to use it: those that do take turns.
	Lock string
	// Retry paces attempts. Default: a random wait, longer after each, at most 1 s.
	Retry RetryPolicy
}

// AtomicLong is a number in a node that many processes add to: Curator's
// DistributedAtomicLong, in its eight bytes, so that Go and Java can use one. An operation
// reads the number and writes it if no other client has written meanwhile; after too many
// conflicts it goes on under a lock.
//
// The number is in the log, if one is recorded. All its methods are safe to call from any
// goroutine. There is nothing to start or to close: a node that does not exist counts as
// zero and is created, with its parents as containers if the server can. Adding past the
// largest number goes on at the smallest, as in Java.
//
// Do not delete a number that is in use: if another node replaces it between the read and
// the write, and reaches the same version, ZooKeeper cannot tell the two apart, and the sum
// of the old number is written over the new one.
type AtomicLong struct {
	number    number
	conflicts int
	lock      *Mutex
}

// AtomicLong returns a handle of an atomic long. The error says what is wrong with a path
// or with Conflicts.
func (c *Client) AtomicLong(path string, options AtomicLongOptions) (*AtomicLong, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	a := &AtomicLong{number: number{c, path, map[string]string{"width": "8"}}, conflicts: options.Conflicts}
	switch {
	case options.Conflicts < -1:
		return nil, fmt.Errorf("incumbent: %d conflicts: want how often another client may write first, or -1 for never", options.Conflicts)
	case options.Conflicts == -1:
		a.conflicts = 0
	case options.Conflicts == 0:
		a.conflicts = 10
	}
	setRetry(a.number.fixed, options.Retry)
	if options.Lock == "" {
		return a, nil
	}
	var err error
	a.lock, err = c.Mutex(options.Lock, MutexOptions{})
	return a, err
}

// Get reads the number, behind a check that a quorum commits: it sees all writes before the
// call.
//
// Errors: ErrClosed, the context's, or an *Error (BADARGUMENTS if the node holds no number
// of eight bytes).
func (a *AtomicLong) Get(ctx context.Context) (int64, error) {
	value, _, err := a.number.do(ctx, "get", "get", nil)
	return value, err
}

// Add adds to the number and returns the sum.
//
// Errors: those of Get; ErrConflict after too many conflicts, if there is no lock;
// ErrOutcomeUnknown if no reply came and another client has written since, or the context
// ended meanwhile: it is not added twice. If no reply came but no other client has written,
// that is no error.
func (a *AtomicLong) Add(ctx context.Context, delta int64) (int64, error) {
	return a.change(ctx, "add", "add", map[string]int64{"operand": delta})
}

// Set writes the number, whatever it was. Errors as for Add.
func (a *AtomicLong) Set(ctx context.Context, value int64) error {
	_, err := a.change(ctx, "set", "set", map[string]int64{"operand": value})
	return err
}

// CompareAndSet writes next if the number is was. It returns false, and the present number,
// if it is another one. Errors as for Add.
func (a *AtomicLong) CompareAndSet(ctx context.Context, was, next int64) (int64, bool, error) {
	value, err := a.change(ctx, "compare and set", "swap", map[string]int64{"operand": next, "expected": was})
	if errors.Is(err, errUnexpectedValue) {
		return value, false, nil
	}
	return value, err == nil, err
}

// change carries out an operation, under the lock if it does not succeed without.
func (a *AtomicLong) change(ctx context.Context, op, task string, options map[string]int64) (int64, error) {
	options["tries"] = int64(a.conflicts)
	value, _, err := a.number.do(ctx, op, task, options)
	switch {
	case !errors.Is(err, errLostRace):
		return value, err
	case a.lock == nil:
		return 0, fmt.Errorf("%w: %s, %d times", ErrConflict, fault.Path(a.number.path), a.conflicts+1)
	}
	hold, err := a.lock.Lock(ctx)
	if err != nil {
		return 0, err
	}
	options["tries"] = 1 << 20
	value, _, err = a.number.do(ctx, op, task, options)
	// The lock only reduces conflicts. Its end says nothing about the operation, and its
	// node is deleted in the background, if need be after the next connection.
	_ = hold.Unlock(ctx)
	return value, err
}

// Path returns the node's path.
func (a *AtomicLong) Path() string { return a.number.Path() }
