package figures

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func (c *client) semaphore(path string, limit int) *incumbent.Semaphore {
	c.t.Helper()
	s, err := c.Semaphore(path, limit, incumbent.SemaphoreOptions{})
	ok(c.t, err)
	return s
}

func (c *client) acquire(s *incumbent.Semaphore, permits int) *incumbent.Hold {
	c.t.Helper()
	h, err := s.Acquire(c.ctx, permits)
	ok(c.t, err)
	return h
}

// writes returns the requests that the ensemble's leader has to commit.
func writes(c zkmem.Counts) int {
	return c.ByOp[zkmem.OpCreate] + c.ByOp[zkmem.OpDelete] + c.ByOp[zkmem.OpMulti]
}

func TestRequestsOfASemaphore(t *testing.T) {
	srv := zkmem.Start(t)
	first, second := open(t, srv), open(t, srv)
	s := first.semaphore("/sem", 50)
	ok(t, first.acquire(s, 1).Unlock(first.ctx)) // the directories are there now
	for i, permits := range []int{1, 50} {
		what := fmt.Sprintf("semaphore, %d of 50 permits", permits)
		reset(srv)
		h := first.acquire(s, permits)
		figure(t, what+", acquire: requests", counts(srv).Total, 5)
		id := events.ID(fmt.Sprintf("semaphore-%d", i+2))
		first.settled(id, "leading")
		figure(t, what+", acquire: round trips",
			trips(first.tape.Records(), id)+trips(first.tape.Records(), "latch-"+id+"-1"), 5)

		reset(srv)
		ok(t, h.Unlock(first.ctx))
		figure(t, what+", release: requests", counts(srv).Total, 1)
	}

	h := first.acquire(s, 50)
	reset(srv)
	_, held, err := second.semaphore("/sem", 50).TryAcquire(second.ctx, 1)
	ok(t, err)
	sent := counts(srv)
	figure(t, "semaphore, try when none is free: requests", sent.Total, 2)
	figure(t, "semaphore, try when none is free: writes", writes(sent), 0)
	if held {
		t.Error("a permit too many")
	}
	ok(t, h.Unlock(first.ctx))
}

// TestOneReleaseWakesOneOfThirtyForAPermit has them in one process, which gets one event
// for every release.
func TestOneReleaseWakesOneOfThirtyForAPermit(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	s := c.semaphore("/sem", 2)
	held := []*incumbent.Hold{c.acquire(s, 1), c.acquire(s, 1)}
	holds := make(chan *incumbent.Hold, 30)
	for i := range 30 {
		go func() {
			h, err := s.Acquire(c.ctx, 1)
			if err != nil {
				c.t.Error(err)
			}
			holds <- h
		}()
		id := events.ID(fmt.Sprintf("semaphore-%d", i+3))
		if i == 0 {
			c.settled(id, "full")
		} else {
			c.settled("latch-"+id+"-1", "waiting")
			c.settled(id, "queueing")
		}
	}
	for n := range 30 {
		begun := len(c.tape.Records())
		reset(srv)
		ok(t, held[n%2].Unlock(c.ctx)) // now the one that came first, now the one that came last
		held[n%2] = <-holds
		next := events.ID(fmt.Sprintf("semaphore-%d", n+3))
		c.settled(next, "leading")
		if n < 29 { // the next one has taken over the wait at the head of the line
			c.settled(events.ID(fmt.Sprintf("semaphore-%d", n+4)), "full")
		}
		woken := map[events.ID]bool{}
		for _, r := range c.tape.Records()[begun:] {
			if r.Event.Kind == events.WatchChildren && r.Row != events.RowIgnored && r.Row != events.RowLate {
				woken[r.Machine] = true
			}
		}
		if n == 0 {
			figure(t, "30 waiters for a permit, one release: woken", len(woken), 1)
			figure(t, "30 waiters for a permit, one release: requests, the release and the next one's turn at the "+
				"head included", counts(srv).Total, 6)
		}
		if len(woken) != 1 || !woken[next] {
			t.Fatalf("release %d woke %v\n%s", n, woken, strings.TrimSpace(c.tape.Tail(20)))
		}
	}
	for _, h := range held {
		ok(t, h.Unlock(c.ctx))
	}
}
