package gocron_test

import (
	"context"
	"errors"
	"testing"
	"time"

	upstream "github.com/go-co-op/gocron/v2"
	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/integrations/gocron"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, srv *zkmem.Server) *incumbent.Client {
	t.Helper()
	c, err := incumbent.Open(context.Background(), incumbent.Config{Servers: srv.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// schedule starts a scheduler with one job every 5 ms, and a channel that gets each of its runs.
func schedule(t *testing.T, option upstream.SchedulerOption) <-chan bool {
	t.Helper()
	s, err := upstream.NewScheduler(option)
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan bool)
	end := make(chan struct{})
	job := func() {
		select {
		case runs <- true:
		case <-end:
		}
	}
	_, err = s.NewJob(upstream.DurationJob(5*time.Millisecond), upstream.NewTask(job),
		upstream.WithName("report/daily"), upstream.WithSingletonMode(upstream.LimitModeReschedule))
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		close(end)
		if err := s.Shutdown(); err != nil {
			t.Error(err)
		}
	})
	return runs
}

// The scheduler of the leader runs the job and the other does not, until the leader resigns.
func TestElector(t *testing.T) {
	srv := zkmem.Start(t)
	var latches [2]*incumbent.Latch
	var runs [2]<-chan bool
	for i := range latches {
		l, err := open(t, srv).Latch("/jobs/x", incumbent.LatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		latches[i] = l
		if err := l.Start(); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			held, err := l.Await(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			held.Release()
		}
		runs[i] = schedule(t, upstream.WithDistributedElector(gocron.Elector(l)))
	}
	for range 20 {
		select {
		case <-runs[0]:
		case <-runs[1]:
			t.Fatal("the job ran where nobody leads")
		}
	}
	if err := latches[0].Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-runs[1]
	if err := gocron.Elector(latches[0]).IsLeader(t.Context()); !errors.Is(err, gocron.ErrNotLeading) {
		t.Error(err)
	}
}

// While one process holds the job's lock, no other gets it; afterwards one does.
func TestLocker(t *testing.T) {
	srv := zkmem.Start(t)
	one, err := gocron.Locker(open(t, srv), "/locks")
	if err != nil {
		t.Fatal(err)
	}
	other, err := gocron.Locker(open(t, srv), "/locks")
	if err != nil {
		t.Fatal(err)
	}
	lock, err := one.Lock(t.Context(), "report/daily")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Lock(t.Context(), "report/daily"); !errors.Is(err, gocron.ErrLocked) {
		t.Errorf("a lock that is held: %v", err)
	}
	if err := lock.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-schedule(t, upstream.WithDistributedLocker(other))
	if _, err := gocron.Locker(nil, "/locks"); err == nil {
		t.Error("a nil client is accepted")
	}
	if _, err := gocron.Locker(open(t, srv), "locks"); err == nil {
		t.Error("a path without a slash is accepted")
	}
}
