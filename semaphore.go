package incumbent

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/fault"
	"github.com/incumbent-go/incumbent/machines"
)

// SemaphoreOptions are the options of a semaphore. The zero value is good.
type SemaphoreOptions struct {
	// ID is how others see this one: the data of its nodes.
	ID string
	// Retry paces attempts after a transient failure. By default they go on until the
	// context ends; if a policy gives up, Acquire returns the failure.
	Retry RetryPolicy
	// WorkGrace is how long a hold that was lost, or is closed by the client, may stay
	// without Unlock. After that its nodes are deleted although Unlock was not called, and
	// the log says so. Zero, the default, means no limit.
	WorkGrace time.Duration
	// EndsWithContext makes the context of Acquire bound the hold, too: see MutexOptions.
	EndsWithContext bool
	// TokenFloor refuses a hold with a token below it: see LatchOptions.
	TokenFloor int64
	// Kazoo puts the semaphore where kazoo's Semaphore is, on kazoo's names, and not where
	// Curator's is. The two do not see each other.
	Kazoo bool
}

// Semaphore gives out a limited number of permits among all processes that use the same
// path, first come, first served. It is Curator's InterProcessSemaphoreV2, on the same
// names: Go and Java can use one.
//
// The limit is stored in ZooKeeper: the first Acquire writes it as the data of the permits'
// directory, and a handle with another limit is refused with ErrLimitDiffers. Curator does
// not know of that: give it the same number. Every child of that directory counts as a
// permit, for Curator too, whichever client created it.
//
// Tokens grow from one Acquire to the next, but several clients hold at a time, and the
// first of them has the lowest token: a store that refuses what is lower than it has seen
// would refuse holders. Only with a limit of 1 do tokens serve as a mutex's do.
//
// All its methods are safe to call from any goroutine.
type Semaphore struct {
	client  *Client
	path    string
	limit   atomic.Int64
	options SemaphoreOptions
}

// Semaphore returns a semaphore at path. If the directory is missing, the first Acquire
// creates it. Limit is the number of permits. Semaphore sends nothing to the ensemble. The
// error says what is wrong with the path, or is ErrPermits for a limit below 1.
func (c *Client) Semaphore(path string, limit int, options SemaphoreOptions) (*Semaphore, error) {
	if err := arguments.CheckLine(path); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, fmt.Errorf("%w: a limit of %d", ErrPermits, limit)
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	s := &Semaphore{client: c, path: path, options: options}
	s.limit.Store(int64(limit))
	return s, nil
}

// Path returns the semaphore's directory.
func (s *Semaphore) Path() string { return s.path }

// Limit returns the number of permits that this handle assumes; see SetLimit.
func (s *Semaphore) Limit() int { return int(s.limit.Load()) }

// Acquire waits until it holds this number of permits: all of them together, or none. The
// context bounds the wait, and nothing else, unless EndsWithContext is set: the hold outlives it, and Unlock releases
// all its permits. An Acquire that fails leaves nothing behind; without a connection its node
// is deleted after the next one.
//
// A caller that wants more permits than are free keeps those behind it waiting, even if
// they want fewer: so no caller waits forever.
//
// A hold of several permits is lost as a whole, when any of their nodes is deleted. The
// first is watched, as the node of every hold; Write checks them all, and the others are
// checked every quarter of the session timeout.
//
// Errors: ErrPermits, immediately, for none, for more than there are, and for more than
// 4096, which is what one transaction creates; ErrLimitDiffers, with both numbers, if
// another limit is stored; ErrLockLost if the permits were deleted before they were
// held; and those of Mutex.Lock.
func (s *Semaphore) Acquire(ctx context.Context, permits int) (*Hold, error) {
	return s.acquire(ctx, permits, false)
}

// TryAcquire is Acquire without a wait for others: it returns false, with no error, if too
// few permits are free, or another client is in the line, waiting for permits or just about
// to take some. Then it has sent two reads and written nothing, unless another client was
// faster in the moment between. Without a connection it waits for one until the context
// ends.
func (s *Semaphore) TryAcquire(ctx context.Context, permits int) (*Hold, bool, error) {
	return tryResult(s.acquire(ctx, permits, true))
}

func (s *Semaphore) acquire(ctx context.Context, permits int, try bool) (*Hold, error) {
	limit := s.Limit()
	if permits < 1 || permits > limit {
		return nil, fmt.Errorf("%w: %d of %d", ErrPermits, permits, limit)
	}
	if permits > machines.MaxPermits {
		return nil, fmt.Errorf("%w: %d in one hold: want no more than %d, which one transaction creates", ErrPermits,
			permits, machines.MaxPermits)
	}
	o, op := s.options, "acquire"
	if try {
		op = "try acquire"
	}
	return s.client.acquire(ctx, acquisition{
		op: op, recipe: machines.SemaphoreRecipe, path: s.path, try: try, limit: limit, permits: permits,
		options: MutexOptions{ID: o.ID, Retry: o.Retry, WorkGrace: o.WorkGrace, TokenFloor: o.TokenFloor,
			Kazoo: o.Kazoo, EndsWithContext: o.EndsWithContext},
	})
}

// Agreed returns the limit that is stored in ZooKeeper; zero if none is.
//
// Without a connection it waits for one. Errors: ErrLimitDiffers if the directory's data are no number; ErrClosed, the
// context's, or an *Error.
func (s *Semaphore) Agreed(ctx context.Context) (int, error) {
	pool := machines.SemaphorePool(s.path, s.options.Kazoo)
	data, _, err := s.client.read(ctx, pool)
	if refused := refusal(err); refused != nil {
		if refused.Code == events.NoNode {
			return 0, nil
		}
		return 0, refused
	}
	limit, ok := machines.ParseLimit(data)
	if err == nil && !ok {
		err = fmt.Errorf("%w: the data of %s are %s", ErrLimitDiffers, fault.Path(pool), events.Quote(string(data),
			events.MaxName))
	}
	return limit, calls.Renamed("agreed", s.path, err)
}

// SetLimit stores another limit, for all handles: it writes the limit to ZooKeeper, and
// this handle uses it. Holds stay as they are: if the new limit is below what is held, no
// client gets a permit until enough were released. Every other handle with the old limit is
// refused with ErrLimitDiffers from then on, also if it waits in a line: make a new handle.
//
// Without a connection it waits for one. Errors: ErrPermits for a limit below 1; ErrOutcomeUnknown; ErrClosed, the
// context's, or an *Error.
func (s *Semaphore) SetLimit(ctx context.Context, limit int) error {
	s.client.check(ctx)
	if limit < 1 {
		return fmt.Errorf("%w: a limit of %d", ErrPermits, limit)
	}
	pool := machines.SemaphorePool(s.path, s.options.Kazoo)
	r := newRequest(s.client, "set limit", pool, SetData(pool, machines.FormatLimit(limit), AnyVersion).event())
	r.options[machines.OptionOrCreate], r.options[machines.OptionParents] = "true", "true"
	err := r.run(ctx).Err
	if err == nil {
		s.limit.Store(int64(limit))
	}
	return calls.Renamed("set limit", s.path, err)
}

// Holders returns those that hold permits, one for each permit, oldest first, and all with
// First set; see Client.Line. On kazoo's names their order means nothing.
func (s *Semaphore) Holders(ctx context.Context) ([]Participant, error) {
	line, err := s.client.line(ctx, machines.SemaphorePool(s.path, s.options.Kazoo),
		func(children []string) ([]machines.Place, int) {
			return machines.Permits(children, s.options.Kazoo)
		})
	return line.Participants, err
}

// Waiting returns those that wait for permits, in queue order.
func (s *Semaphore) Waiting(ctx context.Context) ([]Participant, error) {
	label := machines.LockLabel
	if s.options.Kazoo {
		label = machines.KazooLabel
	}
	line, err := s.client.lineOf(ctx, machines.SemaphoreLocks(s.path, s.options.Kazoo), label)
	return line.Participants, err
}

// Permits returns n permits as one lock, for a MultiLock. If n is wrong, Lock returns the
// error.
func (s *Semaphore) Permits(n int) Lockable { return permits{s, n} }

type permits struct {
	*Semaphore
	n int
}

func (p permits) Lock(ctx context.Context) (*Hold, error) { return p.Acquire(ctx, p.n) }
func (p permits) TryLock(ctx context.Context) (*Hold, bool, error) {
	return p.TryAcquire(ctx, p.n)
}

// permitDiagnostics are the diagnostics of an acquisition of a semaphore's permits.
type permitDiagnostics struct{ h *holdHandle }

func (d permitDiagnostics) LogTrouble(err error) { d.h.logLineTrouble(err) }
func (d permitDiagnostics) Remains() string      { return d.h.leftover() }
func (d permitDiagnostics) Overdue() error       { return d.h.overdueWork() }
func (d permitDiagnostics) WaitsFor() error      { return d.h.permitsError() }

// permitsError returns what an acquisition of permits waits for, as an error.
func (h *holdHandle) permitsError() error {
	if left := h.unreleased(); left != nil {
		return left
	}
	switch h.Class() {
	case events.ClassQueued, events.ClassLooking:
		return fmt.Errorf("waiting for %d of %d permits", h.permits, h.total)
	}
	return h.base.PhaseError()
}
