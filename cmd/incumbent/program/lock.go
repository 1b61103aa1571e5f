package program

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
)

const lockHelp = `Lock a path and run a command only while holding the lock.

The lock is a mutex: one holder at a time, first come, first served, among all
that lock the same path, also Curator's InterProcessMutex.

With -n it is a semaphore, Curator's InterProcessSemaphoreV2: up to N commands run
at a time. All that share a path have to give the same N: the first one's is
stored in ZooKeeper, another is refused (78). --set-limit stores another N.
A semaphore, also one of -n 1, and a mutex on the same PATH do not see each other.

` + underGuard + `   75  the lock was lost (without --requeue)
  124  --try went by, or --no-wait found the lock held, or no permit free
  130, 143, …  a signal came while waiting: 128 and its number
   73  the file of --record cannot be created` + guardExitCodes

var holds = action{"incumbent lock /locks/report -- ./report.sh", "lock", "holding", "held", newMutexCandidate}

func (a *app) lock() *cobra.Command {
	e := &elector{app: a, action: holds}
	c := &cobra.Command{
		Use:   "lock PATH [flags] -- COMMAND [ARGUMENT…]",
		Short: "run a command only while holding a lock",
		Long:  lockHelp,
		Example: `  incumbent lock /locks/report -- ./report.sh
  incumbent lock /locks/report --no-wait -- ./report.sh || echo "somebody else does it"
  incumbent lock /locks/import --try 1m -- ./import.sh
  incumbent lock /locks/encode -n 4 -- ./encode.sh film.mkv`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := e.arguments(c, args); err != nil {
				return err
			}
			if e.plain = c.Flags().Changed("prefix"); e.plain {
				e.line = "election"
			}
			switch {
			case e.plain && c.Flags().Changed("permits"):
				return cli.Usage("--prefix is for a lock and -n for a semaphore: give one")
			case e.noWait && c.Flags().Changed("try"):
				return cli.Usage("--no-wait and --try are two ways to say when to give up: give one")
			case e.permits < 1:
				return cli.Usage("-n is how many may hold the lock at a time: at least 1")
			case c.Flags().Changed("permits"):
				e.newCandidate = newPermitsCandidate
			case e.setLimit:
				return cli.Usage("--set-limit is for a semaphore: give -n, too")
			}
			return e.run(c)
		},
	}
	f := c.Flags()
	f.BoolVar(&e.noWait, "no-wait", false,
		"give up immediately if somebody holds the lock or waits for it: one read, no write")
	f.IntVarP(&e.permits, "permits", "n", 1,
		"how many may hold the lock at a time; given, also as 1, it makes the lock a semaphore")
	f.BoolVar(&e.setLimit, "set-limit", false, "store -n as the limit for everybody, whatever it was before")
	f.StringVar(&e.prefix, "prefix", "", "lock with nodes whose names are this prefix, which may be empty, and "+
		"a number, as in ZooKeeper's recipe, and not with Curator's names")
	e.flagsOfBoth(f)
	return c
}

// lock is a candidate for a mutex, or for a permit.
type lock struct {
	elector *elector
	wait    func(context.Context) (*incumbent.Hold, error)
	try     func(context.Context) (*incumbent.Hold, bool, error)
	busy    string // why a try did not succeed
	hold    *incumbent.Hold
	left    error // why the node of the last hold could not be deleted
}

func newMutexCandidate(e *elector) (candidate, error) {
	m, err := e.client.Mutex(e.path, incumbent.MutexOptions{ID: e.id, Plain: e.plain, Prefix: e.prefix})
	if err != nil {
		return nil, err
	}
	return &lock{elector: e, wait: m.Lock, try: m.TryLock, busy: "somebody holds " + e.path + ", or waits for it"}, nil
}

func (l *lock) await(ctx context.Context) (_ *incumbent.Leadership, err error) {
	held := true
	flag := "--no-wait"
	if l.elector.tryOnce {
		flag = "--try 0s"
	}
	if l.elector.noWait || l.elector.tryOnce {
		l.hold, held, err = l.try(ctx)
	} else {
		l.hold, err = l.wait(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case !held:
		return nil, cli.Exit(exitTimeout, fmt.Errorf("%s (%s)", l.busy, flag))
	}
	return l.hold.Leadership, nil
}

func (l *lock) done(*incumbent.Leadership) {
	ctx, cancel := context.WithTimeout(context.Background(), l.elector.closeTimeout())
	defer cancel()
	if err := l.hold.Unlock(ctx); !errors.Is(err, incumbent.ErrLeadershipLost) {
		l.left = err
	}
}

func (l *lock) close(context.Context) error { return l.left }

// permits is a candidate for one permit of a semaphore at a time.
type permits struct {
	lock
	semaphore *incumbent.Semaphore
}

func newPermitsCandidate(e *elector) (candidate, error) {
	s, err := e.client.Semaphore(e.path, e.permits, incumbent.SemaphoreOptions{ID: e.id})
	if err == nil && e.setLimit {
		if err = e.client.WaitConnected(e.signals.ctx); err == nil {
			err = s.SetLimit(e.signals.ctx, e.permits)
		}
	}
	if err != nil {
		return nil, err
	}
	return &permits{lock{
		elector: e, busy: "no permit of " + e.path + " is free, or somebody waits for one",
		wait: func(ctx context.Context) (*incumbent.Hold, error) { return s.Acquire(ctx, 1) },
		try:  func(ctx context.Context) (*incumbent.Hold, bool, error) { return s.TryAcquire(ctx, 1) },
	}, s}, nil
}

// print prints once who holds the permits.
func (p *permits) print(ctx context.Context) {
	holders, err := p.semaphore.Holders(ctx)
	if err != nil || len(holders) < p.semaphore.Limit() {
		return
	}
	e := p.elector
	e.Note("waiting for a permit of %s as %s: all %d are held, the oldest by %s with token %d", e.path,
		events.Quote(e.id, events.MaxName), len(holders), events.Quote(holders[0].ID, events.MaxName), holders[0].Token)
}
