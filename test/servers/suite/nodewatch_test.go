package suite

import (
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// pull returns a feed to ask by hand.
func pull[T any](t *testing.T, feed iter.Seq2[T, error]) func() T {
	next, stop := iter.Pull2(feed)
	t.Cleanup(stop)
	return func() T {
		t.Helper()
		v, err, more := next()
		ok(t, err)
		if !more {
			t.Fatal("the feed has ended")
		}
		return v
	}
}

func TestAWatchedNode(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		_, err := c.Create(e.dir(), nil).Parents().Do(c.ctx)
		ok(t, err)
		node := e.dir() + "/n"
		next := pull(t, c.WatchNode(c.ctx, node))
		if v := next(); v.Exists || v.Missed != (incumbent.Missed{}) {
			t.Fatalf("%+v", v)
		}
		e.create(node, "secret one", 0)
		if v := next(); !v.Exists || string(v.Data) != "secret one" || v.Stat.Version != 0 ||
			v.Missed != (incumbent.Missed{}) {
			t.Fatalf("%+v", v)
		}
		e.set(node, "two")
		if v := next(); string(v.Data) != "two" || v.Stat.Version != 1 || v.Missed != (incumbent.Missed{}) {
			t.Fatalf("%+v", v)
		}
		// In one transaction, so that nobody sees what is between.
		_, err = c.Multi(incumbent.SetData(node, []byte("3"), 1), incumbent.SetData(node, []byte("4"), 2),
			incumbent.SetData(node, []byte("5"), 3)).Do(c.ctx)
		ok(t, err)
		if v := next(); string(v.Data) != "5" || v.Missed != (incumbent.Missed{Changes: 2}) {
			t.Fatalf("%+v", v)
		}
		_, err = c.Multi(incumbent.DeleteNode(node, 4), incumbent.CreateNode(node, []byte("again")),
			incumbent.SetData(node, []byte("once"), 0)).Do(c.ctx)
		ok(t, err)
		if v := next(); string(v.Data) != "once" || v.Missed != (incumbent.Missed{Replaced: true, Changes: 1}) {
			t.Fatalf("%+v", v)
		}
		e.remove(node)
		if v := next(); v.Exists || v.Data != nil {
			t.Fatalf("%+v", v)
		}
	})
}

func TestWatchedChildren(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		next := pull(t, c.WatchChildren(c.ctx, e.dir()))
		if v := next(); v.Exists {
			t.Fatalf("%+v", v)
		}
		_, err := c.Create(e.dir(), nil).Parents().Do(c.ctx)
		ok(t, err)
		if v := next(); !v.Exists || len(v.Children) != 0 || v.Missed != (incumbent.Missed{}) {
			t.Fatalf("%+v", v)
		}
		e.create(e.dir()+"/b", "", 0)
		if v := next(); !slices.Equal(v.Children, []string{"b"}) || v.Missed != (incumbent.Missed{}) {
			t.Fatalf("%+v", v)
		}
		// One comes and goes unseen.
		_, err = c.Multi(incumbent.CreateNode(e.dir()+"/a", nil), incumbent.CreateNode(e.dir()+"/x", nil),
			incumbent.DeleteNode(e.dir()+"/x", 0)).Do(c.ctx)
		ok(t, err)
		if v := next(); !slices.Equal(v.Children, []string{"a", "b"}) || v.Missed != (incumbent.Missed{Changes: 2}) {
			t.Fatalf("%+v", v)
		}
	})
}

// After an outage the node is reported again, with what is known of the time between.
func TestAWatchOverAnOutage(t *testing.T) {
	for _, expires := range []bool{false, true} {
		e := inMemory(t)
		c := connected(t, e)
		e.create("/n", "one", 0)
		next := pull(t, c.WatchNode(c.ctx, "/n"))
		next()
		kids := pull(t, c.WatchChildren(c.ctx, "/"))
		kids()
		e.RefuseConnections(true)
		c.cut()
		if expires {
			e.ExpireSession(e.Sessions()[0].ID)
		}
		e.set("/n", "two")
		e.set("/n", "three")
		e.RefuseConnections(false)
		if v := next(); string(v.Data) != "three" || v.Missed != (incumbent.Missed{Outage: true, Changes: 1}) {
			t.Fatalf("%+v", v)
		}
		if v := kids(); v.Missed != (incumbent.Missed{Outage: true}) {
			t.Fatalf("%+v", v)
		}
	}
}

func TestWatchesAreRefusedWithReasons(t *testing.T) {
	c := connected(t, inMemory(t))
	for _, err := range c.WatchNode(c.ctx, "n") {
		if err == nil {
			t.Error("a path without a slash is taken")
		}
	}
	ok(t, c.Close(c.ctx))
	for _, err := range c.WatchChildren(c.ctx, "/") {
		is(t, err, incumbent.ErrClosed)
	}
}

func (c *client) delete(path string) *incumbent.Deletion {
	c.t.Helper()
	d, err := c.Delete(path).Guaranteed()
	ok(c.t, err)
	return d
}

func TestAGuaranteedDelete(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c := connected(t, e)
		for _, path := range []string{e.dir(), e.dir() + "/a", e.dir() + "/a/b"} {
			_, err := c.Create(path, nil).Parents().Do(c.ctx)
			ok(t, err)
		}
		coded(t, c.delete(e.dir()+"/a").Wait(c.ctx), events.NotEmpty)
		d := c.delete(e.dir() + "/a/b")
		ok(t, d.Wait(c.ctx))
		<-d.Done()
		ok(t, c.delete(e.dir()+"/a").Wait(c.ctx))
		ok(t, c.delete(e.dir()+"/a").Wait(c.ctx)) // it is gone
		late, err := c.Delete(e.dir()).Version(7).Guaranteed()
		ok(t, err)
		coded(t, late.Wait(c.ctx), events.BadVersion)
		if names := e.children(e.dir()); len(names) != 0 || len(c.Deletions()) != 0 {
			t.Fatal(names, c.Deletions())
		}
	})
}

// deletes finds the delete of a guaranteed delete: the second of its multis. The first is a check.
func deletes() func(zkmem.Request) bool {
	var multis atomic.Int32
	return func(r zkmem.Request) bool { return r.Op == zkmem.OpMulti && multis.Add(1) == 2 }
}

// Its answer is lost, its session ends: it goes on. What was made in its place
// meanwhile stays.
func TestAGuaranteedDeleteGoesOn(t *testing.T) {
	for _, action := range []zkmem.Action{zkmem.CutAfter, zkmem.CutBefore} {
		for _, expires := range []bool{false, true} {
			e := inMemory(t)
			c := connected(t, e)
			e.create("/n", "", 0)
			hit := e.once(deletes(), func(zkmem.Request) zkmem.Verdict {
				e.RefuseConnections(true)
				return zkmem.Verdict{Action: action}
			})
			d := c.delete("/n")
			recv(t, hit, "the delete")
			c.tape.State("deletion-1", "suspended")
			if all := c.Deletions(); len(all) != 1 || all[0] != d || all[0].Path() != "/n" || d.Phase() != "suspended" {
				t.Fatal(all)
			}
			if expires {
				e.ExpireSession(e.Sessions()[0].ID)
			}
			replaced := action == zkmem.CutAfter
			if replaced {
				e.create("/n", "another's", 0)
			}
			e.RefuseConnections(false)
			ok(t, d.Wait(c.ctx))
			if there, err := c.Exists("/n").Do(c.ctx); err != nil || (there != nil) != replaced {
				t.Fatal(there, err)
			}
		}
	}
}

func TestAGuaranteedDeleteThatIsCancelled(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/n", "", 0)
	e.RefuseConnections(true)
	c.cut()
	d := c.delete("/n")
	is(t, d.Wait(brief()), brief().Err())
	coded(t, d.Cancel(), events.Cancelled)
	coded(t, d.Cancel(), events.Cancelled)
	e.RefuseConnections(false)
	if there, err := c.Exists("/n").Do(c.ctx); err != nil || there == nil {
		t.Fatal(there, err)
	}
	e.once(deletes(), func(zkmem.Request) zkmem.Verdict {
		is(t, c.Deletions()[0].Cancel(), incumbent.ErrOutcomeUnknown)
		return zkmem.Verdict{}
	})
	is(t, c.delete("/n").Wait(c.ctx), incumbent.ErrOutcomeUnknown)
	e.untilGone("/n")
	if _, err := c.Delete("n").Guaranteed(); err == nil {
		t.Fatal("a path without a slash is taken")
	}
}
