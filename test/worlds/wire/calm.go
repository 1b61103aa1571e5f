package wire

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A leader is awaited in the calm for as long as a session that nobody uses may live on, what the storm has begun may
// last (a stalled frame, an end that is noticed late), and a pause after a failure may be.
const (
	endsWithin   = 7 // session timeouts
	pausesWithin = 10 * time.Second
)

// calm waits for a leader, and checks that what clients show is what the ensemble has.
func (w *world) calm() {
	healed := time.Now()
	bound := endsWithin*w.plan.timeout + pausesWithin
	settled := w.settled()
	for ; !settled; settled = w.settled() {
		if time.Since(healed) > bound {
			w.fail("somebody leads", "nobody leads, or a client is not connected, %s after all was healed", bound)
			break
		}
		virtual.Sleep(250 * time.Millisecond)
	}
	if settled {
		w.tell("somebody leads")
	}
	virtual.Sleep(max(0, 3*w.plan.timeout-time.Since(healed))) // until nothing that the storm has begun goes on
	w.changeOnce(w.dice.named("last"), 1_000_000)
	_ = w.srv.Set(watchedOne, []byte("last"))
	_, _ = w.srv.Create(watchedDir+"/last", nil, zkmem.Persistent)
	virtual.Sleep(2 * time.Second)
	w.compare()
	w.granted()
	w.worked()
	w.shared()
	for _, c := range w.clients {
		c.breakNow()
	}
	w.tell("every connection is cut once more")
	virtual.Sleep(2*time.Second + w.plan.timeout)
	w.compare()
}

// settled reports whether somebody leads and everybody has a connection and its own place.
func (w *world) settled() bool {
	leads := 0
	for _, c := range w.clients {
		if c.latch.HasLeadership() {
			leads++
		}
		if !c.place.Present() {
			return false
		}
	}
	return leads > 0
}

// compare checks that the feeds of each client show the last change of what they watch.
func (w *world) compare() {
	one, there := w.truth.nodeAt(watchedOne)
	dir, dirThere := w.truth.nodeAt(watchedDir)
	var names []string
	w.srv.View(func(v *zkmem.View) { names = v.Children(watchedDir) })
	for _, c := range w.clients {
		c.mu.Lock()
		saw, children := c.one, c.children
		c.mu.Unlock()
		if saw.Exists != there || there && (saw.Stat.Czxid != one.czxid || saw.Stat.Version != one.version) {
			w.fail("feeds show each change", "%s: %s exists %t in version %d; the feed shows %t, %d", c.name,
				watchedOne, there, one.version, saw.Exists, saw.Stat.Version)
		}
		if children.Exists != dirThere || dirThere && children.Stat.Czxid != dir.czxid ||
			fmt.Sprint(children.Children) != fmt.Sprint(names) {
			w.fail("feeds show each change", "%s: %s exists %t with %v; the feed shows %t, %v", c.name, watchedDir,
				dirThere, names, children.Exists, children.Children)
		}
		if node, found := w.truth.nodeAt(c.ownPlace()); !found || node.owner != c.SessionID() {
			w.fail("a persistent node is there", "%s's %s exists %t, of session %x; its own is %x", c.name,
				c.ownPlace(), found, node.owner, c.SessionID())
		}
	}
}

// end closes the clients while some still ask, and checks that nothing is left.
func (w *world) end() {
	w.total()
	closed := make(chan *client, len(w.clients))
	for _, c := range w.clients {
		go func() {
			for range 3 {
				c.users.Go(c.asksUntilClosed)
			}
			c.stop()
			c.mayClose()
			c.users.Wait()
			closed <- c
		}()
	}
	bound := time.NewTimer(w.plan.timeout + 10*time.Second)
	defer bound.Stop()
	for range w.clients {
		select {
		case <-closed:
		case <-bound.C:
			w.hangs()
			return
		}
	}
	w.nothingLeft()
}

// hangs notes the calls that have not returned.
func (w *world) hangs() {
	for _, c := range w.clients {
		c.mu.Lock()
		for one := range c.waiting {
			w.fail("every call returns", "%s of %s has not returned after its client was closed", one.what, c.name)
		}
		c.mu.Unlock()
	}
	w.fail("every call returns", "a Close, or a user, has no end")
}

// mayClose closes the client. It may take as long as its session lasts.
func (c *client) mayClose() {
	began := time.Now()
	err := c.calls(context.Background(), c.w.plan.timeout, "Close", c.Close)
	c.mu.Lock()
	c.closed = time.Now()
	c.mu.Unlock()
	if took := time.Since(began); err != nil || took > c.w.plan.timeout {
		c.w.fail("Close ends the client", "%s took %s: %v", c.name, took, err)
	}
}

// asksUntilClosed reads all the time, so that Close finds reads in every state. None outlives Close.
func (c *client) asksUntilClosed() {
	for {
		_, err := c.Line(context.Background(), lineDir)
		if errors.Is(err, incumbent.ErrClosed) || errors.Is(err, incumbent.ErrNotConnected) && c.isClosed() {
			break
		}
		virtual.Sleep(100 * time.Microsecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if late := time.Since(c.closed); !c.closed.IsZero() && late > grace {
		c.w.fail("every call returns", "a read of %s returned %s after Close", c.name, late)
	}
}

func (c *client) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.closed.IsZero()
}

// total checks the number that everybody added to.
func (w *world) total() {
	added, maybe := 0, 0
	for _, c := range w.clients {
		c.mu.Lock()
		added, maybe = added+c.added, maybe+c.maybe
		c.mu.Unlock()
	}
	var last int64
	err := w.clients[0].calls(context.Background(), w.plan.timeout, "Get", func(ctx context.Context) (err error) {
		last, err = w.clients[0].sum.Get(ctx)
		return err
	})
	if err != nil || int(last) < added || int(last) > added+maybe+len(w.clients) {
		w.fail("an addition is made once", "the number is %d (%v) after %d additions and %d whose outcome is not known",
			last, err, added, maybe)
	}
}

// nothingLeft checks what the clients have left at the server.
func (w *world) nothingLeft() {
	virtual.Sleep(2 * w.plan.timeout) // slow listeners return
	w.srv.View(func(v *zkmem.View) {
		if n := v.Connections(); n > 0 {
			w.fail("nothing is left", "%d connections after all clients were closed", n)
		}
		if n := v.WatchCount(); n > 0 {
			w.fail("nothing is left", "%d watches after all clients were closed", n)
		}
		for _, s := range v.Sessions() {
			w.fail("nothing is left", "session %x with %v after all clients were closed", s.ID, s.Ephemerals)
		}
	})
}
