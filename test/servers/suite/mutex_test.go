package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// mutex is a lock, and where its next acquisition can be seen.
type mutex struct {
	*incumbent.Mutex
	c *client
}

func (c *client) newMutex(dir string, o incumbent.MutexOptions) mutex {
	c.t.Helper()
	m, err := c.Mutex(dir, o)
	ok(c.t, err)
	return mutex{m, c}
}

// lock must succeed.
func (m mutex) lock() *incumbent.Hold {
	m.c.t.Helper()
	h, err := m.Lock(m.c.ctx)
	if err != nil {
		m.c.t.Fatalf("Lock: %v\n%s", err, m.c.tape.Tail(30))
	}
	return h
}

type outcome struct {
	hold *incumbent.Hold
	err  error
}

// queue asks for the lock in a goroutine and returns when it waits, as the n-th
// acquisition of the client.
func (m mutex) queue(ctx context.Context, n int) (handle, chan outcome) {
	m.c.t.Helper()
	return m.c.inLine(fmt.Sprintf("mutex-%d", n), "waiting", func() (*incumbent.Hold, error) { return m.Lock(ctx) })
}

// inLine asks for a lock in a goroutine and returns when the acquisition, a machine
// of this name, has come to rest in a state.
func (c *client) inLine(name, state string, lock func() (*incumbent.Hold, error)) (handle, chan outcome) {
	c.t.Helper()
	done := make(chan outcome, 1)
	go func() {
		h, err := lock()
		done <- outcome{h, err}
	}()
	waiter := handle{c, events.ID(name)}
	waiter.settled(state)
	return waiter, done
}

func TestMutexIsHeldByOneAfterAnother(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		var inside, holds atomic.Int64
		var last int64
		var all sync.WaitGroup
		for range 3 {
			m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
			all.Go(func() {
				for range 5 {
					h, err := m.Lock(m.c.ctx)
					if err != nil {
						t.Error(err)
						return
					}
					if inside.Add(1) != 1 || h.Token() <= last || h.Check() != nil {
						t.Errorf("%d inside, token %d after %d, %v", inside.Load(), h.Token(), last, h.Check())
					}
					last = h.Token() // only the holder of the lock writes here: -race would find another
					holds.Add(1)
					inside.Add(-1)
					if err := h.Unlock(m.c.ctx); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if left := e.children(e.dir()); len(left) != 0 || holds.Load() != 15 {
			t.Fatalf("%d holds, left behind: %q", holds.Load(), left)
		}
	})
}

func TestMutexUnlocks(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{ID: "host-a"})
		h := m.lock()
		_, queued := m.queue(m.c.ctx, 2)
		line, err := m.Participants(m.c.ctx)
		ok(t, err)
		if len(line) != 2 || line[0].ID != "host-a" || !line[0].First || line[1].First || line[0].Token != h.Token() ||
			line[0].Recipe != "lock" {
			t.Fatalf("%+v", line)
		}
		ok(t, h.Unlock(m.c.ctx))
		is(t, h.Unlock(m.c.ctx), incumbent.ErrNotHeld)
		is(t, h.Check(), incumbent.ErrLeadershipLost)
		next := recv(t, queued, "the next hold")
		ok(t, next.err)
		is(t, h.Unlock(m.c.ctx), incumbent.ErrNotHeld) // and not somebody else's node
		ok(t, next.hold.Check())
		next.hold.Release()
		e.untilChildren(e.dir(), 0)
	})
}

func TestMutexTryLockDoesNotWait(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m := c.newMutex(e.dir(), incumbent.MutexOptions{})
		h, held, err := m.TryLock(c.ctx) // on a path that does not exist
		ok(t, err)
		if !held {
			t.Fatal("a lock that nobody holds was not to be had")
		}
		other, held, err := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{}).TryLock(c.ctx)
		if other != nil || held || err != nil {
			t.Fatalf("%v, %t, %v", other, held, err)
		}
		ok(t, h.Unlock(c.ctx))
		h, held, err = m.TryLock(c.ctx)
		if err != nil || !held {
			t.Fatalf("%t, %v", held, err)
		}
		ok(t, h.Unlock(c.ctx))
	})
}

// TestMutexTryLockThatIsOutrun has somebody come between the look and the node.
func TestMutexTryLockThatIsOutrun(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/suite", "", 0)
	e.create(e.dir(), "", 0)
	m := c.newMutex(e.dir(), incumbent.MutexOptions{})
	there := make(chan struct{})
	e.once(enrols, func(zkmem.Request) zkmem.Verdict {
		go func() {
			defer close(there)
			e.create(e.dir()+"/lock-0000000000", "", 0)
		}()
		return zkmem.Verdict{Wait: there}
	})
	h, held, err := m.TryLock(c.ctx)
	if h != nil || held || err != nil {
		t.Fatalf("%v, %t, %v", h, held, err)
	}
	e.untilChildren(e.dir(), 1)
}

func TestMutexWaiterThatGivesUpLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		h := m.lock()
		why := errors.New("no longer wanted")
		ctx, cancel := context.WithCancelCause(m.c.ctx)
		_, second := m.queue(ctx, 2)
		_, third := m.queue(m.c.ctx, 3)
		cancel(why)
		is(t, recv(t, second, "the end of the wait").err, why)
		e.untilChildren(e.dir(), 2)
		handle{m.c, "mutex-3"}.settled("waiting")
		ok(t, h.Unlock(m.c.ctx))
		next := recv(t, third, "the next hold")
		ok(t, next.err)
		ok(t, next.hold.Unlock(m.c.ctx))
		if _, err := m.Lock(brief()); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}

// TestMutexGrantAndCancelInOneMoment cancels a wait again and again just as the
// lock comes: a hold is returned, or nothing is left.
func TestMutexGrantAndCancelInOneMoment(t *testing.T) {
	e := inMemory(t)
	m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
	granted := 0
	for i := range 100 {
		h := m.lock()
		ctx, cancel := context.WithCancel(m.c.ctx)
		_, queued := m.queue(ctx, 2*i+2)
		go cancel()
		ok(t, h.Unlock(m.c.ctx))
		if next := recv(t, queued, "the end of the wait"); next.err == nil {
			granted++
			ok(t, next.hold.Check()) // the context that was waited with has ended, the hold has not
			ok(t, next.hold.Unlock(m.c.ctx))
		}
		e.untilChildren(e.dir(), 0)
	}
	t.Logf("%d of 100 were granted", granted)
}

func TestMutexHoldOutlivesTheContextOfItsLock(t *testing.T) {
	e := inMemory(t)
	m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(m.c.ctx, key{}, "kept"))
	h, err := m.Lock(ctx)
	ok(t, err)
	cancel()
	if h.Context().Err() != nil || h.Context().Value(key{}) != "kept" {
		t.Fatal(h.Context())
	}
	ok(t, h.Unlock(m.c.ctx))
	is(t, h.Context().Err(), context.Canceled)
}

func TestMutexRefusals(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m := c.newMutex(e.dir(), incumbent.MutexOptions{})
		ok(t, m.lock().Unlock(c.ctx))
		e.create(e.dir()+"/lock-0000000000", "", 0)
		_, err := m.Lock(c.ctx)
		is(t, err, incumbent.ErrPersistentNode)
		e.untilChildren(e.dir(), 1)
		if _, held, err := m.TryLock(c.ctx); held || err != nil {
			t.Fatalf("%t, %v", held, err)
		}
		if _, err := c.Mutex("no/slash", incumbent.MutexOptions{}); err == nil {
			t.Fatal("a path without a slash was taken")
		}
	})
}

func TestMutexAndClose(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		m := c.newMutex(e.dir(), incumbent.MutexOptions{})
		h := m.lock()
		_, queued := m.queue(c.ctx, 2)
		is(t, c.Close(brief()), incumbent.ErrWorkRunning)
		<-h.Context().Done()
		is(t, recv(t, queued, "the end of the wait").err, incumbent.ErrClosed)
		e.untilChildren(e.dir(), 1)
		is(t, h.Unlock(c.ctx), incumbent.ErrLeadershipLost)
		ok(t, c.Close(c.ctx))
		_, err := m.Lock(c.ctx)
		is(t, err, incumbent.ErrClosed)
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	})
}

func TestMutexHolderLocksAgainWhatItHolds(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		holder, ctx := m.Holder(), m.c.ctx
		is(t, holder.Unlock(ctx), incumbent.ErrNotHeld)
		outer, err := holder.Lock(ctx)
		ok(t, err)
		inner, err := holder.Lock(ctx)
		ok(t, err)
		again, held, err := holder.TryLock(ctx)
		ok(t, err)
		if inner != outer || again != outer || !held || len(e.children(e.dir())) != 1 {
			t.Fatal("a second node, or a second hold")
		}
		if _, held, err := m.Holder().TryLock(ctx); held || err != nil {
			t.Fatalf("another holder holds as well: %v", err)
		}
		ok(t, holder.Unlock(ctx))
		ok(t, holder.Unlock(ctx))
		ok(t, outer.Check())
		ok(t, holder.Unlock(ctx))
		is(t, holder.Unlock(ctx), incumbent.ErrNotHeld)
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}

		lost, err := holder.Lock(ctx)
		ok(t, err)
		e.remove(lost.Term().Path)
		<-lost.Context().Done()
		_, err = holder.Lock(ctx)
		is(t, err, incumbent.ErrLeadershipLost)
		is(t, holder.Unlock(ctx), incumbent.ErrLeadershipLost)
		if _, err = holder.Lock(ctx); err != nil {
			t.Fatal(err)
		}
		ok(t, holder.Unlock(ctx))
	})
}

func TestMutexIsRevoked(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{Revocable: true})
		h := m.lock()
		other := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		line, err := other.Participants(other.c.ctx)
		ok(t, err)
		select {
		case <-h.Revoked():
			t.Fatal("revoked by nobody")
		default:
		}
		e.set(h.Term().Path, "something else")
		is(t, other.Revoke(other.c.ctx, incumbent.Participant{Path: line[0].Path, Token: 1}), incumbent.ErrNotInLine)
		ok(t, other.Revoke(other.c.ctx, line[0]))
		ok(t, other.Revoke(other.c.ctx, line[0]))
		<-h.Revoked()
		ok(t, h.Check()) // it decides by itself
		ok(t, h.Unlock(m.c.ctx))
		is(t, other.Revoke(other.c.ctx, line[0]), incumbent.ErrNotInLine)
	})
}

// TestMutexAndSelectorShareALine: the names are the same, so is the line.
func TestMutexAndSelectorShareALine(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		m := connected(t, e).newMutex(e.dir(), incumbent.MutexOptions{})
		h := m.lock()
		led := make(chan struct{})
		s, err := m.c.Selector(e.dir(), func(*incumbent.Leadership) error { close(led); return nil },
			incumbent.SelectorOptions{})
		ok(t, err)
		ok(t, s.Start())
		handle{m.c, "selector-1"}.settled("waiting")
		names := e.children(e.dir())
		if len(names) != 2 || slices.ContainsFunc(names, func(n string) bool {
			return !strings.Contains(n, "-lock-")
		}) {
			t.Fatalf("%q", names)
		}
		ok(t, h.Unlock(m.c.ctx))
		recv(t, led, "the selector's turn")
	})
}
