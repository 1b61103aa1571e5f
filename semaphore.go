package incumbent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// SemaphoreOptions shape a semaphore. The zero value is good.
type SemaphoreOptions struct {
	// ID is what others see of this one: the data of its nodes.
	ID string
	// Retry paces attempts after a failure that passes by itself. By default they
	// go on until the context ends; a policy that gives up ends the Acquire with the
	// failure.
	Retry RetryPolicy
	// WorkGrace is how long a hold that was lost, or is closed by the client, may
	// go without Unlock before its nodes are deleted all the same: that is logged.
	// Zero, the default, waits for ever.
	WorkGrace time.Duration
	// TokenFloor refuses a hold with a token below it: see LatchOptions.
	TokenFloor int64
	// Kazoo has the semaphore stand where kazoo's Semaphore does, on kazoo's names,
	// and not in Curator's place. The two do not see each other.
	Kazoo bool
}

// Semaphore hands out a limited number of permits among all processes that use
// the same path, first come, first served. It is Curator's
// InterProcessSemaphoreV2, on the same names: Go and Java may share one.
//
// The limit is agreed in ZooKeeper: the first Acquire writes it down, as the data
// of the directory of the permits, and whoever comes with another is refused with
// ErrLimit. Curator knows nothing of that: give it the same number. Every child of
// that directory counts as a permit, for Curator too, whoever made it.
//
// Tokens grow from one Acquire to the next, but several hold at a time, and who
// came first has the lowest: a store that refuses what is lower than it has seen
// would refuse holders. Only with a limit of 1 do they serve as a mutex's do.
//
// All its methods are safe to call from any goroutine.
type Semaphore struct {
	client  *Client
	path    string
	limit   atomic.Int64
	options SemaphoreOptions
}

// Semaphore makes a semaphore on a path: a directory that is made when it is
// missing. Limit is how many permits there are. It asks nothing of the ensemble.
// The error says what is wrong with the path, or is ErrPermits for a limit below 1.
func (c *Client) Semaphore(path string, limit int, options SemaphoreOptions) (*Semaphore, error) {
	if err := checkPath(path); err != nil {
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

// Path is the semaphore's directory.
func (s *Semaphore) Path() string { return s.path }

// Limit is how many permits this handle takes there to be; see SetLimit.
func (s *Semaphore) Limit() int { return int(s.limit.Load()) }

// Acquire waits until it holds so many permits: all of them at once, or none. The
// context bounds the wait, and nothing else: the hold outlives it, and Unlock
// gives all its permits back. An Acquire that fails leaves nothing behind; without
// a connection its node is deleted after the next one.
//
// Whoever wants more permits than are free keeps those from behind it, who would
// do with less, waiting too: so nobody waits for ever.
//
// A hold of several permits is lost as a whole, when any of their nodes is deleted.
// The first is watched, as the node of every hold; Write checks them all, and what
// became of the others is asked every quarter of the session timeout.
//
// Errors: ErrPermits, at once, for none, for more than there are, and for more than
// 4096, which is what one transaction creates; ErrLimit, with both numbers, where
// another limit is agreed; ErrLeadershipLost when somebody deleted the permits before
// they were held; and those of Mutex.Lock.
func (s *Semaphore) Acquire(ctx context.Context, permits int) (*Hold, error) {
	return s.acquire(ctx, permits, false)
}

// TryAcquire is Acquire without a wait for others: false, with no error, when too
// few permits are free, or somebody else is in the line, waiting for permits or
// just about to take some. Then two reads were asked for and nothing was written,
// unless somebody was faster in the moment between. Without a connection it waits
// for one, as long as the context lasts.
func (s *Semaphore) TryAcquire(ctx context.Context, permits int) (*Hold, bool, error) {
	return tryResult(s.acquire(ctx, permits, true))
}

func (s *Semaphore) acquire(ctx context.Context, permits int, try bool) (*Hold, error) {
	limit := s.Limit()
	if permits < 1 || permits > limit {
		return nil, fmt.Errorf("%w: %d of %d", ErrPermits, permits, limit)
	}
	if permits > machines.MaxPermits {
		return nil, fmt.Errorf("%w: %d at once: want no more than %d, which one transaction creates", ErrPermits, permits, machines.MaxPermits)
	}
	o := s.options
	return s.client.acquire(ctx, acquisition{
		recipe: machines.SemaphoreRecipe.Name(), path: s.path, try: try, limit: limit, permits: permits,
		options: MutexOptions{ID: o.ID, Retry: o.Retry, WorkGrace: o.WorkGrace, TokenFloor: o.TokenFloor, Kazoo: o.Kazoo},
	})
}

// Agreed is the limit that stands in ZooKeeper; zero while none does.
//
// Errors: ErrLimit where the directory's data are no number; ErrNotConnected, the
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
		err = fmt.Errorf("%w: the data of %s are %q", ErrLimitDiffers, pool, data)
	}
	return limit, err
}

// SetLimit agrees on another limit, for everybody: it writes it down, and this
// handle takes it for its own. Holds stay as they are: where the new limit is
// below what is held, nobody gets a permit until enough were given back. Every
// other handle with the old limit is refused with ErrLimit from then on, those
// that wait in a line included: make them anew.
//
// Errors: ErrPermits for a limit below 1; ErrOutcomeUnknown; ErrNotConnected, the
// context's, or an *Error.
func (s *Semaphore) SetLimit(ctx context.Context, limit int) error {
	s.client.check(ctx)
	if limit < 1 {
		return fmt.Errorf("%w: a limit of %d", ErrPermits, limit)
	}
	pool, data := machines.SemaphorePool(s.path, s.options.Kazoo), machines.FormatLimit(limit)
	err := s.commit(ctx, SetData(pool, data, AnyVersion))
	if refused := refusal(err); refused != nil && refused.Code == events.NoNode {
		_, err = s.client.Create(pool, data).Parents().Do(ctx)
	}
	switch refused := refusal(err); {
	case errors.Is(err, ErrOutcomeUnknown): // there is a *zkio.Error in it, which is no refusal
		return err
	case refused != nil:
		return refused
	case err == nil:
		s.limit.Store(int64(limit))
	}
	return err
}

func (s *Semaphore) commit(ctx context.Context, op Op) error {
	_, err := s.client.commit(ctx, s.client.io.Current(), op)
	return err
}

// Holders are those who hold permits, one for each permit, oldest first, and all
// with Leads set; see Client.Line. On kazoo's names their order means nothing.
func (s *Semaphore) Holders(ctx context.Context) ([]Participant, error) {
	line, err := s.client.line(ctx, machines.SemaphorePool(s.path, s.options.Kazoo), func(children []string) ([]machines.Place, int) {
		return machines.Permits(children, s.options.Kazoo)
	})
	return line.Participants, err
}

// Waiting are those who wait for permits, in queue order.
func (s *Semaphore) Waiting(ctx context.Context) ([]Participant, error) {
	label := machines.LockLabel
	if s.options.Kazoo {
		label = machines.KazooLabel
	}
	line, err := s.client.lineOf(ctx, machines.SemaphoreLocks(s.path, s.options.Kazoo), label)
	return line.Participants, err
}

// Permits is so many permits as one lock, as a MultiLock takes them. What is wrong
// with the number, Lock says.
func (s *Semaphore) Permits(n int) Lockable { return permits{s, n} }

type permits struct {
	*Semaphore
	n int
}

func (p permits) Lock(ctx context.Context) (*Hold, error) { return p.Acquire(ctx, p.n) }
func (p permits) TryLock(ctx context.Context) (*Hold, bool, error) {
	return p.TryAcquire(ctx, p.n)
}
