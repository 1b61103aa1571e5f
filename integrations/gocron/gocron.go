// Package gocron lets the schedulers of gocron run their jobs in one process of many. It may change in any
// release.
//
// Prefer Elector: the process that leads runs all jobs, and belief ends by the clock when the ensemble does
// not confirm it. A Locker decides for each run: two processes whose clocks differ may both run a short job,
// one after the other.
package gocron

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/go-co-op/gocron/v2"

	"github.com/incumbent-go/incumbent"
)

// Believer is a latch, a selector, an election or a job election.
type Believer interface{ HasLeadership() bool }

// ErrNotLeading is what gocron gets where this process does not lead: the job is not run.
var ErrNotLeading = errors.New("gocron: this process does not lead")

// ErrLocked is what gocron gets where another process holds the job's lock: the job is not run.
var ErrLocked = errors.New("gocron: another process holds the lock of the job")

type elector struct{ b Believer }

// Elector returns an argument of gocron.WithDistributedElector. It asks nobody: it looks at the clock. A
// job that has begun is not stopped when leadership ends: end it with Leadership.Context, or write with the
// token.
func Elector(b Believer) gocron.Elector { return elector{b} }

func (e elector) IsLeader(context.Context) error {
	if e.b.HasLeadership() {
		return nil
	}
	return ErrNotLeading
}

type locker struct {
	client *incumbent.Client
	dir    string
}

// Locker returns an argument of gocron.WithDistributedLocker. The lock of a job is a Mutex below dir, under
// the job's name: give each job one, by gocron.WithName. The error says what is wrong with dir.
func Locker(c *incumbent.Client, dir string) (gocron.Locker, error) {
	if c == nil {
		return nil, errors.New("gocron: the client is nil: pass the one that incumbent.Open returned")
	}
	if err := incumbent.CheckPath(dir); err != nil {
		return nil, err
	}
	return locker{c, dir}, nil
}

// Lock is called by gocron before each run.
func (l locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	m, err := l.client.Mutex(path.Join(l.dir, strings.ReplaceAll(job, "/", "_")), incumbent.MutexOptions{})
	if err != nil {
		return nil, err
	}
	hold, held, err := m.TryLock(ctx)
	switch {
	case err != nil:
		return nil, err
	case !held:
		return nil, ErrLocked
	}
	return hold, nil
}
