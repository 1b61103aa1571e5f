package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/incumbent-go/incumbent"
)

const lockHelp = `Lock a path and run a command only while holding the lock.

The lock is a mutex: one holder at a time, first come, first served, among all
who lock the same path, Java's InterProcessMutex included.

` + underGuard + `   75  the lock was lost (without --requeue)
  124  --try went by, or --no-wait found the lock held
  130, 143, …  a signal came while waiting: 128 and its number
   73  the file of --record cannot be written
   78  something in the line has to be mended by hand: the message says what` + exitCodes

var holds = deed{"incumbent lock /locks/report -- ./report.sh", "PATH", "lock", "holding", "held", "holds", standMutex}

func (a *app) lock() *cobra.Command {
	e := &elector{app: a, deed: holds}
	c := &cobra.Command{
		Use:   "lock PATH [flags] -- COMMAND [ARGUMENT…]",
		Short: "run a command only while holding a lock",
		Long:  lockHelp,
		Example: `  incumbent lock /locks/report -- ./report.sh
  incumbent lock /locks/report --no-wait -- ./report.sh || echo "somebody else does it"
  incumbent lock /locks/import --try 1m -- ./import.sh`,
		RunE: func(c *cobra.Command, args []string) error {
			switch before := c.ArgsLenAtDash(); {
			case len(args) == 0 || before == 0:
				return usage("lock needs a PATH, as in: %s", e.usage)
			case before < 0 && len(args) > 1, before > 1:
				return usage("lock does not know what to do with %q: the command comes after a --", args[1])
			}
			e.path, e.command = args[0], args[1:]
			if e.noWait && e.try != 0 {
				return usage("--no-wait and --try are two ways to say when to give up: give one")
			}
			return e.run(c)
		},
	}
	f := c.Flags()
	f.BoolVar(&e.noWait, "no-wait", false, "give up at once when somebody holds the lock or waits for it: one read, no write")
	e.flagsOfBoth(f)
	return c
}

// mutex locks once for each turn.
type mutex struct {
	*incumbent.Mutex
	elector *elector
	hold    *incumbent.Hold
	left    error // why the node of the last hold could not be deleted
}

func standMutex(e *elector) (candidate, error) {
	m, err := e.client.Mutex(e.path, incumbent.MutexOptions{ID: e.id})
	return &mutex{Mutex: m, elector: e}, err
}

func (m *mutex) await(ctx context.Context) (l *incumbent.Leadership, err error) {
	held := true
	if m.elector.noWait {
		m.hold, held, err = m.TryLock(ctx)
	} else {
		m.hold, err = m.Lock(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case !held:
		return nil, exit(exitTried, fmt.Errorf("somebody holds %s, or waits for it (--no-wait)", m.Path()))
	}
	return m.hold.Leadership, nil
}

func (m *mutex) done(*incumbent.Leadership) {
	ctx, cancel := context.WithTimeout(context.Background(), m.elector.farewell())
	defer cancel()
	if err := m.hold.Unlock(ctx); !errors.Is(err, incumbent.ErrLeadershipLost) {
		m.left = err
	}
}

func (m *mutex) close(context.Context) error { return m.left }
