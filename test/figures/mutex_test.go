package figures

import (
	"context"
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// lock takes the lock as the n-th acquisition of the client.
func (c *client) lock(path string) (*incumbent.Mutex, *incumbent.Hold) {
	c.t.Helper()
	m, err := c.Mutex(path, incumbent.MutexOptions{})
	ok(c.t, err)
	h, err := m.Lock(c.ctx)
	ok(c.t, err)
	return m, h
}

// waiters starts count goroutines that wait for the lock, armed; first is the number of the
// first acquisition. They send their holds on the channel.
func (c *client) waiters(m *incumbent.Mutex, first, count int) chan *incumbent.Hold {
	c.t.Helper()
	holds := make(chan *incumbent.Hold, count)
	for i := range count {
		c.waits(fmt.Sprintf("mutex-%d", first+i), holds, func() (*incumbent.Hold, error) { return m.Lock(c.ctx) })
	}
	return holds
}

// waits starts a goroutine that waits for a lock, and returns when the acquisition, a
// machine of this name, is armed. It sends its hold on the channel.
func (c *client) waits(name string, holds chan<- *incumbent.Hold, lock func() (*incumbent.Hold, error)) {
	c.t.Helper()
	go func() {
		h, err := lock()
		if err != nil {
			c.t.Error(err)
		}
		holds <- h
	}()
	c.settled(events.ID(name), "waiting")
}

// woken returns the machines that handled the deletion of a node.
func woken(records []events.Record) map[events.ID]bool {
	all := map[events.ID]bool{}
	for _, r := range records {
		if r.Event.Kind == events.WatchDeleted && r.Row != events.RowIgnored && r.Row != events.RowLate {
			all[r.Machine] = true
		}
	}
	return all
}

func TestRequestsOfAMutex(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/lock")
	first, second := open(t, srv), open(t, srv)
	reset(srv)
	m, h := first.lock("/lock")
	figure(t, "mutex, acquire: requests", counts(srv).Total, 3)
	first.settled("mutex-1", "leading") // the log is written a little later
	figure(t, "mutex, acquire: round trips", trips(first.tape.Records(), "mutex-1"), 2)

	other, err := second.Mutex("/lock", incumbent.MutexOptions{})
	ok(t, err)
	reset(srv)
	_, held, err := other.TryLock(second.ctx)
	ok(t, err)
	sent := counts(srv)
	figure(t, "mutex, try-lock on a held lock: requests", sent.Total, 1)
	figure(t, "mutex, try-lock on a held lock: listings",
		sent.ByOp[zkmem.OpGetChildren]+sent.ByOp[zkmem.OpGetChildren2], 1)
	if held {
		t.Error("held twice")
	}

	reset(srv)
	ok(t, h.Unlock(first.ctx))
	figure(t, "mutex, release: requests", counts(srv).Total, 1)

	reset(srv)
	h, held, err = m.TryLock(first.ctx)
	ok(t, err)
	figure(t, "mutex, try-lock on a free lock: requests", counts(srv).Total, 4)
	if !held {
		t.Error("a free lock was not to be had")
	}
	ok(t, h.Unlock(first.ctx))

	third := open(t, srv)
	_, h = third.lock("/lock")
	holds := first.waiters(m, 3, 1)
	figure(t, "mutex, start to an armed waiter on the same path: round trips",
		trips(first.tape.Records(), "mutex-3"), 2)
	ok(t, h.Unlock(third.ctx))
	ok(t, (<-holds).Unlock(first.ctx))
}

// TestRequestsFromWakingToHolding counts the waiter's requests after the watch has fired.
func TestRequestsFromWakingToHolding(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	m, h := c.lock("/lock")
	holds := c.waiters(m, 2, 1)
	ok(t, h.Unlock(c.ctx))
	h = <-holds
	c.settled("mutex-2", "leading")
	figure(t, "mutex, wake-up to held: requests", requestsToLead(c.tape.Records(), "mutex-2"), 1)
	ok(t, h.Unlock(c.ctx))
}

func TestOneReleaseWakesOneOfThirty(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	m, h := c.lock("/lock")
	holds := c.waiters(m, 2, 30)
	for n := range 30 {
		begun := len(c.tape.Records())
		reset(srv)
		ok(t, h.Unlock(c.ctx))
		h = <-holds
		next := events.ID(fmt.Sprintf("mutex-%d", n+2))
		c.settled(next, "leading")
		woken := woken(c.tape.Records()[begun:])
		if n == 0 {
			figure(t, "30 waiters, one release: woken", len(woken), 1)
			figure(t, "30 waiters, one release: requests, the deletion included", counts(srv).Total, 2)
		}
		if len(woken) != 1 || !woken[next] {
			t.Fatalf("release %d woke %v", n, woken)
		}
	}
	ok(t, h.Unlock(context.Background()))
}
