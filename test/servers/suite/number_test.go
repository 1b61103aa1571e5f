package suite

import (
	"errors"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func TestASharedCount(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c, other := connected(t, e), connected(t, e)
		count, err := c.SharedCount(e.dir()+"/count", -7)
		ok(t, err)
		theirs, err := other.SharedCount(e.dir()+"/count", 99)
		ok(t, err)
		first, err := count.Get(c.ctx)
		ok(t, err)
		if first != (incumbent.Count{Value: -7}) {
			t.Fatal(first)
		}
		next := pull(t, theirs.Watch(other.ctx))
		if got := next(); got != first {
			t.Fatal(got)
		}
		set, err := theirs.Set(other.ctx, 1<<31-1)
		ok(t, err)
		if got := next(); got != set || set != (incumbent.Count{Value: 1<<31 - 1, Version: 1}) {
			t.Fatal(got, set)
		}
		now, done, err := count.TrySet(c.ctx, first, 5)
		ok(t, err)
		if done || now != set {
			t.Fatal(done, now)
		}
		if now, done, err = count.TrySet(c.ctx, now, 5); err != nil || !done || now.Value != 5 || now.Version != 2 {
			t.Fatal(now, done, err)
		}
		e.set(e.dir()+"/count", "none")
		if got, err := count.Get(c.ctx); err != nil || got.Value != 'n'<<24|'o'<<16|'n'<<8|'e' {
			t.Fatal(got, err)
		}
		e.set(e.dir()+"/count", "text")
		e.set(e.dir()+"/count", "other")
		_, err = count.Get(c.ctx)
		coded(t, err, events.BadArguments)
	})
}

func TestAnAtomicLong(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		const writers, each = 4, 5
		var all sync.WaitGroup
		for range writers {
			c := connected(t, e)
			n, err := c.AtomicLong(e.dir()+"/n", incumbent.AtomicLongOptions{Conflicts: 1, Lock: e.dir() + "/lock"})
			ok(t, err)
			all.Go(func() {
				for range each {
					if _, err := n.Add(c.ctx, 3); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		c := connected(t, e)
		n, err := c.AtomicLong(e.dir()+"/n", incumbent.AtomicLongOptions{})
		ok(t, err)
		if got, err := n.Get(c.ctx); err != nil || got != 3*writers*each {
			t.Fatal(got, err)
		}
		if got, swapped, err := n.CompareAndSet(c.ctx, 1, 2); err != nil || swapped || got != 3*writers*each {
			t.Fatal(got, swapped, err)
		}
		if got, swapped, err := n.CompareAndSet(c.ctx, 3*writers*each, -2); err != nil || !swapped || got != -2 {
			t.Fatal(got, swapped, err)
		}
		ok(t, n.Set(c.ctx, 1<<62))
		if got, err := n.Add(c.ctx, -1); err != nil || got != 1<<62-1 {
			t.Fatal(got, err)
		}
	})
}

// Somebody writes between each read and write: without a lock there is an end to it.
func TestAnAtomicLongThatIsBeaten(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	n, err := c.AtomicLong("/n", incumbent.AtomicLongOptions{Conflicts: -1})
	ok(t, err)
	ok(t, n.Set(c.ctx, 1))
	beaten := 0
	stop := e.Intercept(func(r zkmem.Request) zkmem.Verdict {
		if r.Op == zkmem.OpMulti && r.Path == "/n" && beaten < 2 {
			beaten++
			ok(t, e.Set("/n", []byte("\x00\x00\x00\x00\x00\x00\x00\x07")))
		}
		return zkmem.Verdict{}
	})
	defer stop()
	_, err = n.Add(c.ctx, 1)
	is(t, err, incumbent.ErrConflict)
	// Under the lock it goes on.
	locked, err := c.AtomicLong("/n", incumbent.AtomicLongOptions{Conflicts: -1, Lock: "/lock"})
	ok(t, err)
	if got, err := locked.Add(c.ctx, 1); err != nil || got != 8 {
		t.Fatal(got, err)
	}
	if names := e.children("/lock"); len(names) != 0 || beaten != 2 {
		t.Fatal(names, beaten)
	}
}

// An add whose answer is lost is done once: it is known to have failed where
// nobody has written since, and doubtful otherwise.
func TestAnAddWithoutAnAnswer(t *testing.T) {
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		e := inMemory(t)
		c := connected(t, e)
		n, err := c.AtomicLong("/n", incumbent.AtomicLongOptions{})
		ok(t, err)
		ok(t, n.Set(c.ctx, 1))
		hit := e.once(writes(zkmem.OpMulti), verdict(zkmem.Verdict{Action: action}))
		got, err := n.Add(c.ctx, 1)
		recv(t, hit, "the write")
		if action == zkmem.CutBefore {
			if err != nil || got != 2 {
				t.Fatal(got, err)
			}
		} else if !errors.Is(err, incumbent.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		if got, err := n.Get(c.ctx); err != nil || got != 2 {
			t.Fatal(got, err)
		}
	}
}

func TestNumbersAreRefusedWithReasons(t *testing.T) {
	c := connected(t, inMemory(t))
	for _, err := range []error{
		second(c.SharedCount("x", 0)),
		second(c.AtomicLong("/", incumbent.AtomicLongOptions{})),
		second(c.AtomicLong("/n", incumbent.AtomicLongOptions{Lock: "lock"})),
		second(c.AtomicLong("/n", incumbent.AtomicLongOptions{Conflicts: -2})),
	} {
		if err == nil {
			t.Error("it is taken")
		}
	}
	n, err := c.AtomicLong("/n", incumbent.AtomicLongOptions{})
	ok(t, err)
	_, err = n.Add(brief(), 1)
	is(t, err, brief().Err())
	ok(t, c.Close(c.ctx))
	is(t, second(n.Get(c.ctx)), incumbent.ErrClosed)
}
