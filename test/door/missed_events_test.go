package door_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// hidden is an access list that lets nobody read.
var hidden = []zkmem.ACL{{Perms: zkmem.PermAll &^ zkmem.PermRead, Scheme: "world", ID: "anyone"}}

// whileHidden has an operator take away the right to read a node, do something, and give the right back: servers spend
// the watches, and tell nobody.
func (w *world) whileHidden(t *testing.T, path string, ops ...zkmem.Op) {
	t.Helper()
	steps := append([]zkmem.Op{{Code: zkmem.OpSetACL, Path: path, ACL: hidden, Version: zkmem.AnyVersion}}, ops...)
	for _, op := range append(steps, zkmem.Op{Code: zkmem.OpSetACL, Path: path, ACL: zkmem.OpenACL(),
		Version: zkmem.AnyVersion}) {
		if _, err := w.srv.Do(op); err != nil && err != zkmem.NoNode {
			t.Fatalf("%s: %v", op.Path, err)
		}
	}
}

func deletes(path string) zkmem.Op {
	return zkmem.Op{Code: zkmem.OpDelete, Path: path, Version: zkmem.AnyVersion}
}

func creates(path, data string) zkmem.Op {
	return zkmem.Op{Code: zkmem.OpCreate, Path: path, Data: []byte(data), ACL: zkmem.OpenACL()}
}

// child returns the path of the nth child of a directory, by name.
func (w *world) child(t *testing.T, dir string, n int) (path string) {
	t.Helper()
	w.srv.View(func(v *zkmem.View) {
		names := slices.Sorted(slices.Values(v.Children(dir)))
		if len(names) <= n {
			t.Fatalf("%s has %q", dir, names)
		}
		path = dir + "/" + names[n]
	})
	return path
}

// missedEvent is a state of a recipe that waits for an event, and the event is dropped.
type missedEvent struct {
	name string
	// set brings the recipe into the state. It returns what makes something happen unseen, and what tells whether the
	// recipe has found out.
	set func(t *testing.T, w *world, n, other *node) (happen func(), found func() bool)
}

// collected reads a feed, and returns what tells its last element in words.
func collected[T any](seq iter.Seq2[T, error]) func() string {
	var last atomic.Value
	last.Store("")
	go func() {
		for v, err := range seq {
			last.Store(fmt.Sprintf("%+v %v", v, err))
		}
	}()
	return func() string { return last.Load().(string) }
}

// says returns what tells whether a text has these words.
func says(text func() string, words string) func() bool {
	return func() bool { return strings.Contains(text(), words) }
}

// behindHidden has both clients take part, the other one first, and an operator delete the first node while nobody may
// read it.
func behindHidden(dir string, join func(t *testing.T, n *node) func() bool) missedEvent {
	return missedEvent{name: dir, set: func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		join(t, other)
		pass(time.Second)
		first := w.child(t, dir, 0)
		has := join(t, n)
		pass(time.Second)
		return func() {
			w.refuse(other, true)
			other.cut()
			w.whileHidden(t, first, deletes(first))
		}, has
	}}
}

func recipeNamed(name string) func(t *testing.T, n *node) func() bool {
	for _, r := range refusedRecipes {
		if r.name == name {
			return r.join
		}
	}
	panic(name)
}

var missedEvents = []missedEvent{
	behindHidden("/line", recipeNamed("latch")),
	behindHidden("/plain", recipeNamed("election")),
	behindHidden("/turns", recipeNamed("selector")),
	behindHidden("/lock", recipeNamed("mutex")),
	behindHidden("/rw", recipeNamed("write lock")),
	behindHidden("/permits/leases", recipeNamed("semaphore")),
	behindHidden("/job/leader/election", recipeNamed("job election")),
	{"a semaphore's directory", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		semaphore := recipeNamed("semaphore")
		semaphore(t, other)
		pass(time.Second)
		has := semaphore(t, n)
		pass(time.Second)
		return func() { w.whileHidden(t, "/permits/leases", deletes(w.child(t, "/permits/leases", 0))) }, has
	}},
	{"a watched leader", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		recipeNamed("latch")(t, other)
		pass(time.Second)
		text := collected(n.Watch(t.Context(), "/line"))
		pass(time.Second)
		first := w.child(t, "/line", 0)
		return func() { w.whileHidden(t, first, deletes(first)) },
			func() bool { return !strings.Contains(text(), first) }
	}},
	{"an empty line", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		must(w.srv.Do(creates("/lock", "")))
		text := collected(n.Watch(t.Context(), "/lock"))
		pass(time.Second)
		place := "/lock/_c_12345678-1234-1234-1234-123456789012-lock-0000000009"
		return func() { w.whileHidden(t, "/lock", creates(place, "")) }, says(text, place)
	}},
	{"a watched node", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		must(w.srv.Do(creates("/node", "before")))
		text := collected(n.WatchNode(t.Context(), "/node"))
		pass(time.Second)
		set := zkmem.Op{Code: zkmem.OpSetData, Path: "/node", Data: []byte("after"), Version: zkmem.AnyVersion}
		return func() { w.whileHidden(t, "/node", set) }, says(text, fmt.Sprint([]byte("after")))
	}},
	{"a watched node that goes", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		must(w.srv.Do(creates("/node", "before")))
		text := collected(n.WatchNode(t.Context(), "/node"))
		pass(time.Second)
		return func() { w.whileHidden(t, "/node", deletes("/node")) }, says(text, "Exists:false")
	}},
	{"watched children", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		must(w.srv.Do(creates("/dir", "")))
		text := collected(n.WatchChildren(t.Context(), "/dir"))
		pass(time.Second)
		return func() { w.whileHidden(t, "/dir", creates("/dir/new", "")) }, says(text, "new")
	}},
	{"watched members", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		must(w.srv.Do(creates("/dir", "")))
		text := collected(n.WatchMembers(t.Context(), "/dir"))
		pass(time.Second)
		return func() { w.whileHidden(t, "/dir", creates("/dir/new", "")) }, says(text, "new")
	}},
	{"a persistent node", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		p := must(n.PersistentNode("/dir/kept", nil, incumbent.PersistentNodeOptions{}))
		fails(t, p.Start())
		fails(t, p.WaitPresent(t.Context()))
		created := func() (zxid int64) {
			w.srv.View(func(v *zkmem.View) {
				_, stat, _ := v.Get("/dir/kept")
				zxid = stat.Czxid
			})
			return zxid
		}
		first := created()
		again := func() bool { return created() > first }
		return func() { w.whileHidden(t, "/dir/kept", deletes("/dir/kept")) }, again
	}},
	{"inside a double barrier", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		b := must(n.DoubleBarrier("/double", 1, incumbent.DoubleBarrierOptions{}))
		fails(t, b.Enter(t.Context()))
		own := w.child(t, "/double", 0)
		return func() { w.whileHidden(t, own, deletes(own)) },
			func() bool { return errors.Is(b.Err(), incumbent.ErrMemberGone) }
	}},
	{"on the way into a double barrier", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		var entered atomic.Int32
		enter := func(n *node) {
			b := must(n.DoubleBarrier("/double", 2, incumbent.DoubleBarrierOptions{}))
			go func() {
				if b.Enter(t.Context()) == nil {
					entered.Add(1)
				}
			}()
			pass(time.Second)
		}
		enter(n)
		own := w.child(t, "/double", 0)
		return func() {
			w.whileHidden(t, own, deletes(own))
			enter(other)
		}, func() bool { return entered.Load() == 2 }
	}},
	{"on the way out of a double barrier", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		var left atomic.Bool
		first, second := must(n.DoubleBarrier("/double", 2,
			incumbent.DoubleBarrierOptions{})),
			must(other.DoubleBarrier("/double", 2, incumbent.DoubleBarrierOptions{}))
		go func() { _ = second.Enter(t.Context()) }()
		fails(t, first.Enter(t.Context()))
		pass(time.Second)
		go func() { left.Store(first.Leave(t.Context()) == nil) }()
		pass(time.Second)
		return func() {
			for n := 1; n >= 0; n-- {
				if path := w.child(t, "/double", n); !strings.HasSuffix(path, "/ready") {
					w.whileHidden(t, path, deletes(path))
				}
			}
		}, left.Load
	}},
	{"a queue", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		var got atomic.Bool
		take := must(incumbent.NewQueue(n.Client, "/queue", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
		c := must(take.AtMostOnce(func(context.Context, incumbent.Delivery[string]) { got.Store(true) },
			incumbent.ConsumerOptions{}))
		fails(t, c.Start())
		pass(time.Second)
		put := must(incumbent.NewQueue(other.Client, "/queue", incumbent.QueueOptions[string]{Codec: incumbent.Text()}))
		return func() {
			must(w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: "/queue", ACL: hidden, Version: zkmem.AnyVersion}))
			fails(t, put.Put(t.Context(), "item"))
			w.whileHidden(t, "/queue")
		}, got.Load
	}},
	{"a tree", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		return tree(t, w, n, "/tree/a/b", incumbent.TreeCacheOptions{})
	}},
	{"a tree of two levels", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		return tree(t, w, n, "/tree/a/b", incumbent.TreeCacheOptions{Depth: 2})
	}},
	{"the top of a tree", func(t *testing.T, w *world, n, other *node) (func(), func() bool) {
		return tree(t, w, n, "/tree", incumbent.TreeCacheOptions{})
	}},
}

// tree has a client cache a tree, of which a node is deleted.
func tree(t *testing.T, w *world, n *node, gone string, o incumbent.TreeCacheOptions) (func(), func() bool) {
	at := ""
	for part := range strings.SplitSeq(gone[1:], "/") {
		at += "/" + part
		must(w.srv.Do(creates(at, "")))
	}
	cache := must(n.TreeCache("/tree", o))
	fails(t, cache.Start())
	fails(t, cache.WaitReady(t.Context()))
	pass(time.Second)
	return func() { w.whileHidden(t, gone, deletes(gone)) }, func() bool {
		_, known := cache.Get(gone)
		return !known
	}
}

// A server tells nobody what happens to a node while it may not be read, and the watch is spent. A recipe that waits
// for it finds out by a question of its own, within a session timeout and some seconds.
func TestWhatIsWaitedForIsAskedFor(t *testing.T) {
	for _, c := range selection.Some(t, "recipes", 5, len(missedEvents), missedEvents) {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n, other := w.open(timeouts(10*time.Second, 2*time.Second)), w.open(timeouts(10*time.Second,
					2*time.Second))
				happen, found := c.set(t, w, n, other)
				pass(time.Minute)
				if found() {
					t.Fatal("it is as after the event before that: the test shows nothing")
				}
				happen()
				if pass(25 * time.Second); !found() {
					t.Errorf("25 s later it waits on\n%s", n.tape.Tail(15))
				}
			})
		})
	}
}
