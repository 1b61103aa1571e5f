package suite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
)

// TestLocksOfOtherKindsAreForeign has every other kind of place in the directory
// of a read-write lock: none is waited for, and none waits.
func TestLocksOfOtherKindsAreForeign(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
		w := l.write()
		mutex := c.newMutex(e.dir(), incumbent.MutexOptions{}).lock()
		kazoo := c.newMutex(e.dir(), incumbent.MutexOptions{Kazoo: true}).lock()
		latch := c.newLatch(e.dir(), incumbent.LatchOptions{})
		ok(t, latch.Start())
		latch.state("leading")
		for _, name := range []string{"__WRIT__", "__WRIT__7", "x-__WRIT__000000000", "_c_x-__WRIT__000000000",
			"__writ__0000000000", "leases", "locks"} {
			e.create(e.dir()+"/"+name, "", 0)
		}
		line, err := l.Participants(c.ctx)
		ok(t, err)
		if len(line) != 1 || line[0].Path != w.Term().Path {
			t.Fatalf("in line: %+v", line)
		}
		r, err := w.Downgrade(c.ctx)
		ok(t, err)
		ok(t, r.Unlock(c.ctx))
		ok(t, held[*incumbent.WriteHold](t, true)(l.TryLock(c.ctx)).Unlock(c.ctx))
		ok(t, mutex.Unlock(c.ctx))
		ok(t, kazoo.Unlock(c.ctx))
	})
}

// TestNamesWithoutAGUIDAreInTheLine has somebody read and write by hand, on names
// without a GUID: they are waited for, and a persistent one never goes.
func TestNamesWithoutAGUIDAreInTheLine(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
		ok(t, l.read().Unlock(c.ctx)) // makes the directory
		reader := e.create(e.dir()+"/__READ__", "", zk.FlagSequence)
		ok(t, held[*incumbent.Hold](t, true)(l.TryRLock(c.ctx)).Unlock(c.ctx))
		held[*incumbent.WriteHold](t, false)(l.TryLock(c.ctx))
		_, err := l.Lock(c.ctx)
		is(t, err, incumbent.ErrPersistentNode)
		e.remove(reader)
		ok(t, l.write().Unlock(c.ctx))
		e.create(e.dir()+"/__WRIT__", "", zk.FlagSequence)
		_, err = l.RLock(c.ctx)
		is(t, err, incumbent.ErrPersistentNode)
		e.untilChildren(e.dir(), 1)
	})
}

// TestAReaderLosesItsHoldAlone has an operator delete one of three readers' nodes.
func TestAReaderLosesItsHoldAlone(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
		ctx := l.c.ctx
		first, second, third := l.read(), l.read(), l.read()
		writer, next := l.queueWriter()
		e.remove(second.Term().Path)
		<-second.Context().Done()
		is(t, context.Cause(second.Context()), incumbent.ErrLeadershipLost)
		set := incumbent.SetData(e.dir(), []byte("written"), incumbent.AnyVersion)
		_, err := second.Write(ctx, set)
		is(t, err, incumbent.ErrLeadershipLost)
		is(t, second.Unlock(ctx), incumbent.ErrLeadershipLost)
		for _, h := range []*incumbent.Hold{first, third} {
			ok(t, h.Check())
			_, err := h.Write(ctx, set)
			ok(t, err)
		}
		e.remove(third.Term().Path) // the writer watches it
		<-third.Context().Done()
		is(t, third.Unlock(ctx), incumbent.ErrLeadershipLost)
		writer.settled("waiting")
		ok(t, first.Unlock(ctx))
		ok(t, granted(t, next, "the writer").Unlock(ctx))
	})
}

// TestUnlockAndDowngradeInOneMoment has one of them win, and nothing left.
func TestUnlockAndDowngradeInOneMoment(t *testing.T) {
	e := inMemory(t)
	l := connected(t, e).newReadWrite(e.dir(), incumbent.MutexOptions{})
	for range 30 {
		w := l.write()
		var both sync.WaitGroup
		var unlocked, again, downgraded error
		var r *incumbent.Hold
		both.Go(func() { unlocked = w.Unlock(l.c.ctx) })
		both.Go(func() { r, downgraded = w.Downgrade(l.c.ctx) })
		both.Go(func() { again = w.Unlock(l.c.ctx) })
		both.Wait()
		won := 0
		for _, err := range []error{unlocked, again, downgraded} {
			if err == nil {
				won++
				continue
			}
			is(t, err, incumbent.ErrNotHeld)
		}
		if won != 1 || (r != nil) != (downgraded == nil) {
			t.Fatalf("%v, %v, %v", unlocked, again, downgraded)
		}
		if r != nil {
			ok(t, r.Unlock(l.c.ctx))
		}
		if left := e.children(e.dir()); len(left) != 0 {
			t.Fatalf("left behind: %q", left)
		}
	}
}

// TestReadersAndWritersAndClose closes a client in which some hold and some wait.
func TestReadersAndWritersAndClose(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
		first, second := l.read(), l.read()
		_, writer := l.queueWriter()
		_, reader := l.queueReader()
		is(t, c.Close(brief()), incumbent.ErrWorkRunning)
		for _, queued := range []chan outcome{writer, reader} {
			is(t, recv(t, queued, "the end of the wait").err, incumbent.ErrClosed)
		}
		for _, h := range []*incumbent.Hold{first, second} {
			<-h.Context().Done()
			e.untilChildren(e.dir(), slices.Index([]*incumbent.Hold{second, first}, h)+1)
			is(t, h.Unlock(c.ctx), incumbent.ErrLeadershipLost)
		}
		ok(t, c.Close(c.ctx))
		e.untilChildren(e.dir(), 0)
	})
}

// TestAClosedClientSaysSo asks a closed client what needs no handle's machine.
func TestAClosedClientSaysSo(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	l := c.newReadWrite(e.dir(), incumbent.MutexOptions{})
	s := c.newSemaphore(e.dir(), 2)
	ok(t, l.write().Unlock(c.ctx))
	ok(t, c.Close(c.ctx))
	for what, err := range map[string]error{
		"Participants": second(l.Participants(c.ctx)),
		"Line":         second(c.Line(c.ctx, e.dir())),
		"Members":      second(c.Members(c.ctx, e.dir())),
		"Evict":        c.Evict(c.ctx, incumbent.Participant{Path: e.dir(), Token: 1}),
		"Revoke":       l.Revoke(c.ctx, incumbent.Participant{Path: e.dir(), Token: 1}),
		"Holders":      second(s.Holders(c.ctx)),
		"Agreed":       second(s.Agreed(c.ctx)),
		"SetLimit":     s.SetLimit(c.ctx, 3),
		"Lock":         second(l.Lock(c.ctx)),
		"Acquire":      second(s.Acquire(c.ctx, 1)),
	} {
		if !errors.Is(err, incumbent.ErrClosed) || incumbent.Retryable(err) {
			t.Errorf("%s: %v, retryable %t", what, err, incumbent.Retryable(err))
		}
	}
}
