package security

import (
	"context"
	"errors"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
)

const ann, bob, cid = "ann:ann's secret", "bob:bob's secret", "cid:cid's secret"

// The nodes that two clients of one name create are theirs alone, also the parents.
func TestOneNameEndToEnd(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		one, two := connected(t, p, as(ann)), connected(t, p, as(ann))
		first := one.latch(p.line())
		held := one.lead(first)
		second := two.latch(p.line())
		two.tape.State("latch-1", "waiting")
		_, err := held.Write(one.ctx, incumbent.CreateNode(p.root+"/result", []byte("done")))
		ok(t, err)
		for _, path := range []string{p.line(), p.root + "/result", held.Term().Path} {
			acl, _, err := p.operator.GetACL(path)
			ok(t, err)
			if len(acl) != 1 || acl[0].Scheme != "digest" || acl[0].Perms != zk.PermAll || acl[0].ID[:4] != "ann:" {
				t.Errorf("%s is for %+v", path, acl)
			}
		}
		line, err := two.Line(two.ctx, p.line())
		ok(t, err)
		if len(line.Participants) != 2 || line.Participants[0].Err != nil {
			t.Errorf("%+v", line)
		}
		held.Release()
		ok(t, first.Close(one.ctx))
		two.lead(second).Release()

		stranger(t, p, "a stranger")
		stranger(t, p, "a wrong password", as("ann:wrong"))
		stranger(t, p, "another name", as(bob))
	})
}

// stranger is refused everywhere, by name.
func stranger(t *testing.T, p place, what string, change ...func(*incumbent.Config)) {
	t.Helper()
	c := connected(t, p, change...)
	_, err := c.latch(p.line()).Await(c.ctx)
	if !errors.Is(err, incumbent.ErrNoAuth) || incumbent.Retryable(err) {
		t.Errorf("%s awaits: %v", what, err)
	}
	if _, err := c.Line(c.ctx, p.line()); !errors.Is(err, incumbent.ErrNoAuth) {
		t.Errorf("%s reads the line: %v", what, err)
	}
	for _, err := range c.Watch(c.ctx, p.line()) {
		if !errors.Is(err, incumbent.ErrNoAuth) {
			t.Errorf("%s watches: %v", what, err)
		}
		break
	}
	if _, err := c.latch(p.root + "/result/line").Await(c.ctx); !errors.Is(err, incumbent.ErrNoAuth) {
		t.Errorf("%s awaits below a foreign node: %v", what, err)
	}
}

// Two names are in one line whose directory is for everybody, each node for its creator
// alone. No participant may read its predecessor's node; servers since 3.8.4, and
// Debian's, would remove a watch on it without an event.
func TestTwoNamesInOneLine(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		p.directory(t, p.line(), zk.WorldACL(zk.PermRead|zk.PermCreate|zk.PermDelete))
		for _, recipe := range []string{"latch", "selector"} {
			t.Run(recipe, func(t *testing.T) {
				clients := []*client{connected(t, p, as(ann)), connected(t, p, as(bob)), connected(t, p, as(cid))}
				turns := make(chan int)
				var ends []context.CancelFunc
				done := make(chan error, len(clients))
				for i, c := range clients {
					ctx, end := context.WithCancel(c.ctx)
					ends = append(ends, end)
					go func() { done <- lead(ctx, c, recipe, p.line(), func() { turns <- i }) }()
					if i > 0 {
						c.unread(events.ID(recipe + "-1"))
					} else {
						c.tape.State(events.ID(recipe+"-1"), "leading")
					}
				}
				for i := range clients {
					if who := <-turns; who != i {
						t.Fatalf("%d leads, want %d", who, i)
					}
					ends[i]()
					if err := <-done; err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}

// lead leads once, reports it, and waits for the end of the context.
func lead(ctx context.Context, c *client, recipe, path string, tell func()) error {
	if recipe == "selector" {
		s, err := c.Selector(path, func(l *incumbent.Leadership) error {
			tell()
			<-l.Context().Done()
			return context.Cause(ctx)
		}, incumbent.SelectorOptions{Retry: patient.Retry})
		if err != nil {
			return err
		}
		return s.Run(ctx)
	}
	l, err := c.Latch(path, patient)
	if err != nil {
		return err
	}
	if err := l.Start(); err != nil {
		return err
	}
	held, err := l.Await(c.ctx)
	if err != nil {
		return err
	}
	tell()
	<-ctx.Done()
	held.Release()
	return l.Close(c.ctx)
}

// unread waits until a machine is behind a node that it may not read, and the
// directory is watched in its place. Whether the node is there, newer servers do not say either.
func (c *client) unread(id events.ID) {
	c.t.Helper()
	c.tape.Until("a wait behind an unreadable node", func(records []events.Record) bool {
		refused := map[uint64]bool{}
		for _, r := range records {
			if r.Machine == id && r.Event.Kind == events.ReplyStat && r.Event.Code == events.NoAuth {
				refused[r.Seq] = true
			}
			asked := r.Machine == id && r.Event.Kind == events.ReplyStat && refused[r.Cause] // after the watch
			if asked && (r.Event.Code == events.OK || r.Event.Code == events.NoAuth) {
				return true
			}
		}
		return false
	})
}

// refusals has what the directory's access list may forbid, and the request that it
// refuses.
var refusals = []struct {
	name, effect string
	perms        int32
}{
	{"create", "create ", zk.PermAll &^ zk.PermCreate},
	{"read", "children ", zk.PermAll &^ zk.PermRead},
	{"delete", "delete ", zk.PermAll &^ zk.PermDelete},
}

// NoAuth on create, read and delete, in each recipe: an error by name, attempts
// with back-off, and success once it is allowed.
func TestWhatTheAccessListForbids(t *testing.T) {
	both(t, func(t *testing.T, p place) {
		for _, r := range refusals {
			for _, recipe := range []string{"latch", "selector"} {
				t.Run(r.name+"/"+recipe, func(t *testing.T) {
					dir := p.root + "/" + r.name + "-" + recipe
					p.directory(t, dir, zk.WorldACL(r.perms))
					c := connected(t, p)
					if r.name == "delete" { // else the session is ended, and the node goes with it
						m, err := c.Mutex(p.root+"/elsewhere-"+recipe, incumbent.MutexOptions{})
						ok(t, err)
						held, err := m.Lock(c.ctx)
						ok(t, err)
						defer held.Release()
					}
					id := events.ID(recipe + "-1")
					handle, ended := start(c, recipe, dir)
					c.tape.Until("three refusals", func(records []events.Record) bool {
						return refused(records, id) >= 3
					})
					is(t, handle.Err(), incumbent.ErrNoAuth)
					asked, pauses := c.attempts(id, r.effect)
					if asked > pauses+1 {
						t.Errorf("%s was asked %d times, after %d pauses", r.name, asked, pauses)
					}
					p.directory(t, dir, zk.WorldACL(zk.PermAll))
					if err := <-ended; err != nil {
						t.Fatal(err)
					}
					names, _, err := p.operator.Children(dir)
					if err != nil || len(names) > 0 {
						t.Fatal(names, err)
					}
				})
			}
		}
	})
}

// refused counts the refusals that a machine got.
func refused(records []events.Record, id events.ID) (n int) {
	for _, r := range records {
		if r.Machine == id && r.Event.Code == events.NoAuth {
			n++
		}
	}
	return n
}

// start starts a handle that leads once and closes. Errors that the tested refusals
// cause are expected; ended reports all others.
func start(c *client, recipe, path string) (handle interface{ Err() error }, ended <-chan error) {
	c.t.Helper()
	done := make(chan error, 1)
	if recipe == "latch" {
		l := c.latch(path)
		go func() {
			for {
				held, err := l.Await(c.ctx)
				if errors.Is(err, incumbent.ErrNoAuth) {
					c.tape.State("latch-1", "leading")
					continue
				}
				if err == nil {
					held.Release()
					err = l.Close(c.ctx)
				}
				done <- err
				return
			}
		}()
		return l, done
	}
	led := make(chan struct{}, 1)
	s, err := c.Selector(path, func(*incumbent.Leadership) error {
		led <- struct{}{}
		return nil
	}, incumbent.SelectorOptions{Retry: patient.Retry})
	ok(c.t, err)
	ok(c.t, s.Start())
	go func() {
		<-led
		done <- s.Close(c.ctx)
	}()
	return s, done
}
