package incumbent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/internal/handles"
	"github.com/incumbent-go/incumbent/machines"
)

// numberCall is the handle of the machine of one operation on a number. The machine decides what is written.
type numberCall struct {
	handle
	value   int64 // under mu, as the fields below
	version int32
	known   bool
}

// Close ends an operation with its client.
func (x *numberCall) Close(ctx context.Context) error { return x.base.End(ctx, false) }

// notice takes the number that was read or written; on the loop's goroutine.
func (x *numberCall) notice(n events.Notify) {
	if n.What == events.Value {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.value = n.Value
		x.version, x.known = int32(n.Work), true
		return
	}
	x.base.NoteTrouble(n)
}

// number is what numbers in nodes share.
type number struct {
	client *Client
	path   string
	fixed  map[string]string // options that every operation has
}

// Path returns the node's path.
func (n *number) Path() string { return n.path }

// errUnexpectedValue means that the number is not the one that the call expects. No caller
// gets it.
var errUnexpectedValue = errors.New("incumbent: the number is another one")

// errLostRace means that another client wrote first in one attempt more than allowed. No
// caller gets it.
var errLostRace = errors.New("incumbent: another client wrote first")

// do carries out one operation, which an error calls op. It returns the number with errUnexpectedValue, too.
func (n *number) do(ctx context.Context, op, task string,
	options map[string]int64) (value int64, version int32, err error) {
	n.client.check(ctx)
	if ctx.Err() != nil { // a fast answer could come first
		return 0, 0, n.client.core.Explain(ctx, op, n.path, context.Cause(ctx), calls.NotBegun)
	}
	x := &numberCall{}
	x.init(n.client, n.path)
	open := events.Event{Path: n.path, Options: maps.Clone(n.fixed)}
	open.Options[machines.OptionTask] = task
	for name, v := range options {
		open.Options[name] = strconv.FormatInt(v, 10)
	}
	if _, err := n.client.register(machines.NumberRecipe, func(id events.ID) receiver {
		x.base.Machine = id
		return x
	}, open); err != nil {
		return 0, 0, calls.AsError(op, n.path, err)
	}
	command, replied, err := x.base.Begin(events.Event{Kind: events.CommandStart})
	if err != nil {
		return 0, 0, calls.AsError(op, n.path, err)
	}
	err = x.base.AwaitOutcome(ctx, handles.OneCommand{Op: op, Number: command, Replied: replied})
	x.mu.Lock()
	defer x.mu.Unlock()
	var refused *Error
	switch {
	case !errors.As(err, &refused) || refused.Code != events.BadVersion:
	case x.known:
		err = errUnexpectedValue
	default:
		err = errLostRace
	}
	return x.value, x.version, err
}

func (x *numberCall) answer(a events.Answer)     { x.base.Deliver(a) }
func (x *numberCall) entered(now events.Entered) { x.base.Enter(now) }

// SharedCount is a number in a node that many processes read, write and watch: Curator's
// SharedCount, in its four bytes, so that Go and Java can use one.
//
// The number is in the log, if one is recorded. All its methods are safe to call from any
// goroutine. There is nothing to start or to close: if the node does not exist, the first
// call creates it, with the seed, and its parents as containers if the server can. To add
// to a number, rather than to replace it, use an AtomicLong.
type SharedCount struct{ number number }

// Count is a shared count as it was at one moment.
type Count struct {
	Value   int32
	Version int32 // of the node's data: TrySet compares it
}

// SharedCount returns a handle of a shared count; a count that does not exist begins with
// seed. The error says what is wrong with the path.
func (c *Client) SharedCount(path string, seed int32) (*SharedCount, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	fixed := map[string]string{machines.OptionWidth: "4", machines.OptionSeed: strconv.Itoa(int(seed))}
	return &SharedCount{number{c, path, fixed}}, nil
}

// Get reads the count, behind a check that a quorum commits: it sees all writes before the
// call. Curator's getCount returns the value of its last watch.
//
// Errors: ErrClosed, the context's, or an *Error (BADARGUMENTS if the node holds no number
// of four bytes).
func (s *SharedCount) Get(ctx context.Context) (Count, error) {
	return s.count(ctx, "get", machines.NumberGet, nil)
}

// Set writes the count, whatever it was. If another client writes in the same moment, it
// tries again. Errors as for Get, and ErrOutcomeUnknown if no reply came and another client
// has written since, or the context ended meanwhile.
func (s *SharedCount) Set(ctx context.Context, value int32) (Count, error) {
	return s.count(ctx, "set", machines.NumberSet, map[string]int64{
		machines.OptionOperand: int64(value), machines.OptionTries: 1 << 20})
}

// TrySet writes the count if it is still as it was read. It returns false, and the present
// count, if another client has written since, even the same value. Errors as for Set.
func (s *SharedCount) TrySet(ctx context.Context, was Count, value int32) (Count, bool, error) {
	now, err := s.count(ctx, "try set", machines.NumberReplace, map[string]int64{
		machines.OptionOperand: int64(value), machines.OptionExpected: int64(was.Version),
		machines.OptionTries: 1 << 20,
	})
	if errors.Is(err, errUnexpectedValue) {
		return now, false, nil
	}
	return now, err == nil, err
}

func (s *SharedCount) count(ctx context.Context, op, task string, options map[string]int64) (Count, error) {
	value, version, err := s.number.do(ctx, op, task, options)
	return Count{int32(value), version}, err
}

// Watch returns a feed of the count, now and whenever it is written, until the context ends
// or the loop over it is left. It can miss what Client.WatchNode can: the versions left out
// say how many writes. It yields nothing while the count does not exist.
func (s *SharedCount) Watch(ctx context.Context) iter.Seq2[Count, error] {
	s.number.client.check(ctx)
	return func(yield func(Count, error) bool) {
		for change, err := range s.number.client.WatchNode(ctx, s.number.path) {
			count := Count{Version: change.Stat.Version}
			switch {
			case err != nil:
			case !change.Exists:
				continue
			case len(change.Data) == 4:
				count.Value = int32(binary.BigEndian.Uint32(change.Data))
			default:
				err = fmt.Errorf("incumbent: %s holds %d bytes, and a shared count has 4", fault.Path(s.number.path),
					len(change.Data))
			}
			if !yield(count, err) {
				return
			}
		}
	}
}

// Path returns the node's path.
func (s *SharedCount) Path() string { return s.number.Path() }

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
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	fixed := map[string]string{machines.OptionWidth: "8"}
	a := &AtomicLong{number: number{c, path, fixed}, conflicts: options.Conflicts}
	switch {
	case options.Conflicts < -1:
		return nil, fmt.Errorf("incumbent: %d conflicts: want how often another client may write first, "+
			"or -1 for never", options.Conflicts)
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
	value, _, err := a.number.do(ctx, "get", machines.NumberGet, nil)
	return value, err
}

// Add adds to the number and returns the sum.
//
// Errors: those of Get; ErrConflict after too many conflicts, if there is no lock;
// ErrOutcomeUnknown if no reply came and another client has written since, or the context
// ended meanwhile: it is not added twice. If no reply came but no other client has written,
// that is no error.
func (a *AtomicLong) Add(ctx context.Context, delta int64) (int64, error) {
	return a.change(ctx, "add", machines.NumberAdd, map[string]int64{machines.OptionOperand: delta})
}

// Set writes the number, whatever it was. Errors as for Add.
func (a *AtomicLong) Set(ctx context.Context, value int64) error {
	_, err := a.change(ctx, "set", machines.NumberSet, map[string]int64{machines.OptionOperand: value})
	return err
}

// CompareAndSet writes next if the number is was. It returns false, and the present number,
// if it is another one. Errors as for Add.
func (a *AtomicLong) CompareAndSet(ctx context.Context, was, next int64) (int64, bool, error) {
	value, err := a.change(ctx, "compare and set", machines.NumberSwap, map[string]int64{
		machines.OptionOperand: next, machines.OptionExpected: was})
	if errors.Is(err, errUnexpectedValue) {
		return value, false, nil
	}
	return value, err == nil, err
}

// change carries out an operation, under the lock if it does not succeed without.
func (a *AtomicLong) change(ctx context.Context, op, task string, options map[string]int64) (int64, error) {
	options[machines.OptionTries] = int64(a.conflicts)
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
	options[machines.OptionTries] = 1 << 20
	value, _, err = a.number.do(ctx, op, task, options)
	// The lock only reduces conflicts. Its end says nothing about the operation, and its
	// node is deleted in the background, if need be after the next connection.
	_ = hold.Unlock(ctx)
	return value, err
}

// Path returns the node's path.
func (a *AtomicLong) Path() string { return a.number.Path() }
