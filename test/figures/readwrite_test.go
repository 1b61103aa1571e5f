package figures

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestRequestsOfAReadWriteLock(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/lock")
	first, second := open(t, srv), open(t, srv)
	l, err := first.ReadWriteLock("/lock", incumbent.MutexOptions{})
	ok(t, err)
	reset(srv)
	w, err := l.Lock(first.ctx)
	ok(t, err)
	figure(t, "read-write lock, acquire to write: requests", counts(srv).Total, 3)
	first.settled("readwrite-1", "leading")
	figure(t, "read-write lock, acquire to write: round trips", trips(first.tape.Records(), "readwrite-1"), 2)

	other, err := second.ReadWriteLock("/lock", incumbent.MutexOptions{})
	ok(t, err)
	reset(srv)
	_, held, err := other.TryRLock(second.ctx)
	ok(t, err)
	figure(t, "read-write lock, try to read what is written: requests", counts(srv).Total, 1)
	if held {
		t.Error("a reader and a writer hold at the same time")
	}

	reset(srv)
	r, err := w.Downgrade(first.ctx)
	ok(t, err)
	figure(t, "read-write lock, downgrade: requests", counts(srv).Total, 2)
	reset(srv)
	another, err := other.RLock(second.ctx)
	ok(t, err)
	figure(t, "read-write lock, acquire to read: requests", counts(srv).Total, 3)
	ok(t, another.Unlock(second.ctx))
	reset(srv)
	ok(t, r.Unlock(first.ctx))
	figure(t, "read-write lock, release: requests", counts(srv).Total, 1)
}

// TestWhomAReleaseWakes has a writer, ten readers, a writer, ten readers, and a
// writer in one line. Each release wakes those that hold the lock because of it, and no
// others, if the readers unlock in the order in which they came. In any other order a
// writer would also be woken by the reader before it, and look for another to watch.
func TestWhomAReleaseWakes(t *testing.T) {
	srv := zkmem.Start(t)
	c := open(t, srv)
	l, err := c.ReadWriteLock("/lock", incumbent.MutexOptions{})
	ok(t, err)
	read := func() (*incumbent.Hold, error) { return l.RLock(c.ctx) }
	write := func() (*incumbent.Hold, error) { h, err := l.Lock(c.ctx); return &h.Hold, err }
	h, err := write()
	ok(t, err)
	var names []string
	holds := make(chan *incumbent.Hold, 22)
	for i := range 22 {
		side := read
		if i%11 == 10 {
			side = write
		}
		names = append(names, fmt.Sprintf("readwrite-%d", i+2))
		c.waits(names[i], holds, side)
	}
	release := func(h *incumbent.Hold, next []string) {
		t.Helper()
		begun := len(c.tape.Records())
		ok(t, h.Unlock(c.ctx))
		for _, name := range next {
			c.settled(events.ID(name), "leading")
		}
		got := woken(c.tape.Records()[begun:])
		for _, name := range next {
			if !got[events.ID(name)] {
				t.Errorf("%s was not woken", name)
			}
		}
		if len(got) != len(next) {
			t.Errorf("woken are %v, and %v should be", got, next)
		}
	}
	release(h, names[:10])
	figure(t, "read-write lock, wake-up to held: requests", requestsToLead(c.tape.Records(), events.ID(names[0])), 1)
	readers := func() (all []*incumbent.Hold) {
		for range 10 {
			all = append(all, <-holds)
		}
		slices.SortFunc(all, func(a, b *incumbent.Hold) int { return cmp.Compare(a.Token(), b.Token()) })
		return all
	}
	for i, h := range readers() {
		release(h, names[10:11][:i/9]) // the last one
	}
	release(<-holds, names[11:21])
	for i, h := range readers() {
		release(h, names[21:][:i/9])
	}
	release(<-holds, nil)
}
