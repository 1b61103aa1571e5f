package suite

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
)

// four returns a MultiLock of a mutex, a reader, a writer and two permits, which are
// not given in the order of their directories. It also returns the directories, in order.
func (c *client) four(e ensemble) (*incumbent.MultiLock, []string) {
	c.t.Helper()
	dirs := []string{e.dir() + "-a", e.dir() + "-b", e.dir() + "-c", e.dir() + "-d"}
	s, err := c.Semaphore(dirs[3], 2, incumbent.SemaphoreOptions{})
	ok(c.t, err)
	a := c.newMutex(dirs[0], incumbent.MutexOptions{})
	b, z := c.newReadWrite(dirs[1], incumbent.MutexOptions{}), c.newReadWrite(dirs[2], incumbent.MutexOptions{})
	m, err := incumbent.NewMultiLock(z.Writer(), s.Permits(2), a.Mutex, b.Reader())
	ok(c.t, err)
	return m, dirs
}

// free waits until nothing is left of anybody's locks.
func free(e ensemble, dirs []string) {
	for _, dir := range dirs[:3] {
		e.untilChildren(dir, 0)
	}
	e.untilChildren(dirs[3]+"/leases", 0)
	e.untilChildren(dirs[3]+"/locks", 0)
}

func TestMultiLockHoldsAll(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m, dirs := c.four(e)
		h, err := m.Lock(c.ctx)
		ok(t, err)
		ok(t, h.Check())
		holds := h.Holds()
		for i, dir := range dirs { // in the order of their paths
			if !strings.HasPrefix(holds[i].Term().Path, dir+"/") || holds[i].Token() == 0 {
				t.Fatalf("%s: %+v", dir, holds[i].Term())
			}
		}
		second, _ := connected(t, e).four(e)
		if none, held, err := second.TryLock(c.ctx); none != nil || held || err != nil {
			t.Fatalf("%v, %t, %v", none, held, err)
		}
		ok(t, h.Unlock(c.ctx))
		is(t, h.Unlock(c.ctx), incumbent.ErrNotHeld)
		is(t, context.Cause(h.Context()), context.Canceled)
		free(e, dirs)
		h, held, err := second.TryLock(c.ctx)
		if err != nil || !held {
			t.Fatalf("%t, %v", held, err)
		}
		ok(t, h.Unlock(c.ctx))
	})
}

// TestMultiLockStopsAtTheFirstFailure has the lock in the middle taken: the one
// before it is unlocked again, and the one after it is never asked for.
func TestMultiLockStopsAtTheFirstFailure(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m, dirs := c.four(e)
		middle := connected(t, e).newReadWrite(dirs[1], incumbent.MutexOptions{})
		w := middle.write()
		ctx, cancel := context.WithCancelCause(c.ctx)
		why := errors.New("the budget of all three")
		failed := make(chan error, 1)
		go func() {
			_, err := m.Lock(ctx)
			failed <- err
		}()
		handle{c, "readwrite-1"}.settled("waiting")
		if len(e.children(dirs[0])) != 1 {
			t.Fatal("the first is not held")
		}
		if _, held, err := m.TryLock(c.ctx); held || err != nil {
			t.Fatalf("%t, %v", held, err)
		}
		cancel(why)
		err := recv(t, failed, "the end of the wait")
		is(t, err, why)
		if !strings.Contains(err.Error(), dirs[1]) {
			t.Fatalf("%v does not say which", err)
		}
		e.untilChildren(dirs[0], 0)
		e.untilChildren(dirs[1], 1)
		if n := len(e.children(dirs[2])); n != 0 {
			t.Fatal("the last was asked for")
		}
		ok(t, w.Unlock(c.ctx))
	})
}

// TestMultiLockLosesOneWhileItWaits has an operator delete the node of the first
// lock while the second is waited for.
func TestMultiLockLosesOneWhileItWaits(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m, dirs := c.four(e)
		w := connected(t, e).newReadWrite(dirs[1], incumbent.MutexOptions{}).write()
		failed := make(chan error, 1)
		go func() {
			_, err := m.Lock(c.ctx)
			failed <- err
		}()
		handle{c, "readwrite-1"}.settled("waiting")
		e.remove(handle{c, "mutex-1"}.node())
		err := recv(t, failed, "the end of the wait")
		is(t, err, incumbent.ErrLeadershipLost)
		if !strings.Contains(err.Error(), dirs[0]) || strings.Contains(err.Error(), dirs[1]) {
			t.Fatalf("%v does not say which", err)
		}
		e.untilChildren(dirs[0], 0)
		e.untilChildren(dirs[1], 1)
		ok(t, w.Unlock(c.ctx))
	})
}

func TestMultiLockIsLostWithOne(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m, dirs := c.four(e)
		h, err := m.Lock(c.ctx)
		ok(t, err)
		e.remove(h.Holds()[1].Term().Path)
		<-h.Context().Done()
		for _, err := range []error{context.Cause(h.Context()), h.Check(), h.Unlock(c.ctx)} {
			is(t, err, incumbent.ErrLeadershipLost)
			if !strings.Contains(err.Error(), dirs[1]) {
				t.Errorf("%v does not say which", err)
			}
		}
		free(e, dirs)
	})
}

// TestMultiLocksDoNotDeadlock has four take two locks each, given in every order.
func TestMultiLocksDoNotDeadlock(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var inside atomic.Int64
		var all sync.WaitGroup
		for i := range 4 {
			c := connected(t, e)
			a, b := c.newMutex(e.dir()+"-a", incumbent.MutexOptions{}),
				c.newMutex(e.dir()+"-b", incumbent.MutexOptions{})
			locks := []incumbent.Lockable{a.Mutex, b.Mutex}
			if i%2 == 1 {
				locks[0], locks[1] = locks[1], locks[0]
			}
			m, err := incumbent.NewMultiLock(locks...)
			ok(t, err)
			all.Go(func() {
				for range 4 {
					h, err := m.Lock(c.ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if n := inside.Add(1); n != 1 {
						t.Errorf("%d hold both", n)
					}
					inside.Add(-1)
					if err := h.Unlock(c.ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
}

func TestMultiLockRefusals(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
	if _, err := incumbent.NewMultiLock(); err == nil {
		t.Error("of nothing")
	}
	if _, err := incumbent.NewMultiLock(l.Reader(), nil); err == nil || !strings.Contains(err.Error(), "lock 1") {
		t.Errorf("of one that is nil: %v", err)
	}
	if _, err := incumbent.NewMultiLock(l.Reader(), l.Writer()); err == nil || !strings.Contains(err.Error(), e.dir()) {
		t.Errorf("one lock twice: %v", err)
	}
}
