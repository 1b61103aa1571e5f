package zkio_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const cache, other events.ID = "treecache-1", "latch-9"

// askAs executes a request of a machine, and returns its reply.
func (r *rig) askAs(id events.ID, e events.Request) events.Event {
	r.t.Helper()
	r.Execute(id, e)
	for {
		got := r.take()
		if got.To == id && got.Event.Request == e.Header().Request && got.Event.Kind[:6] == "reply." {
			return got.Event
		}
	}
}

// watchTree asks for a recursive watch of the machine cache.
func (r *rig) watchTree(path string) events.Event {
	r.t.Helper()
	return r.askAs(cache, events.AddWatch{Call: r.call(), Path: path})
}

// watchEvents returns the watch events that were posted since the last call, and before the answer
// to a sync, as "machine kind path".
func (r *rig) watchEvents() (all []string) {
	r.t.Helper()
	r.askAs(machine, events.Sync{Call: r.call(), Path: "/"})
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all[r.listed:] {
		if strings.HasPrefix(string(e.Event.Kind), "watch.") {
			all = append(all, string(e.To)+" "+string(e.Event.Kind)+" "+e.Event.Path)
		}
	}
	r.listed = len(r.all)
	return all
}

func mustPost(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// onReleases runs a test with the options of a server of each release.
func onReleases(t *testing.T, test func(t *testing.T, o zkmem.Options)) {
	t.Helper()
	for _, r := range []zkmem.Release{zkmem.Release38, zkmem.Release39} {
		t.Run(string(r), func(t *testing.T) { test(t, zkmem.Options{Release: r}) })
	}
}

// A recursive watch reports what happens to its node and to all below it, and lasts. A
// change of a node is posted once until the machine reads the node.
func TestARecursiveWatch(t *testing.T) {
	onReleases(t, func(t *testing.T, o zkmem.Options) {
		srv := zkmem.Start(t, o)
		r, _ := attachedRig(t, srv)
		if set := r.watchTree("/t"); set.Code != "" || set.Kind != events.ReplyWatch {
			t.Fatalf("the watch: %+v", set)
		}
		for _, path := range []string{"/t", "/tea", "/t/a", "/t/a/b"} {
			r.ask(events.Create{Call: r.call(), Path: path, Mode: events.Persistent})
		}
		mustPost(t, "creates", r.watchEvents(), "treecache-1 watch.created /t", "treecache-1 watch.created /t/a",
			"treecache-1 watch.created /t/a/b")
		set := func(path string) {
			r.ask(events.Multi{Call: r.call(), Ops: []events.Op{{Verb: "set", Path: path, Version: -1}}})
		}
		set("/t/a")
		set("/t/a")
		set("/t/a/b")
		mustPost(t, "writes", r.watchEvents(), "treecache-1 watch.changed /t/a", "treecache-1 watch.changed /t/a/b")
		r.askAs(other, events.Get{Call: r.call(), Path: "/t/a", Watch: true})
		set("/t/a")
		mustPost(t, "a write that another machine watches, too", r.watchEvents(), "latch-9 watch.changed /t/a")
		r.askAs(cache, events.Get{Call: r.call(), Path: "/t/a"})
		set("/t/a")
		mustPost(t, "a write behind a read", r.watchEvents(), "treecache-1 watch.changed /t/a")
		r.askAs(other, events.Children{Call: r.call(), Path: "/t/a", Watch: true})
		r.ask(events.Delete{Call: r.call(), Path: "/t/a/b"})
		mustPost(t, "a deletion, and a list of children", r.watchEvents(), "treecache-1 watch.deleted /t/a/b",
			"latch-9 watch.children /t/a")
		r.ask(events.Create{Call: r.call(), Path: "/t/a/b", Mode: events.Persistent})
		set("/t/a/b")
		mustPost(t, "another node in its place", r.watchEvents(), "treecache-1 watch.created /t/a/b",
			"treecache-1 watch.changed /t/a/b")
	})
}

// On a server that may keep one watch for each path, a one-shot watch on the path of the
// recursive one takes its place: the machine gets an event when the request is sent. Watches on
// other paths, above and below, change nothing.
func TestAOneShotWatchReplacesARecursiveOne(t *testing.T) {
	onReleases(t, func(t *testing.T, o zkmem.Options) {
		srv := zkmem.Start(t, o)
		r, _ := attachedRig(t, srv)
		for _, path := range []string{"/s", "/s/t", "/s/t/a"} {
			r.ask(events.Create{Call: r.call(), Path: path, Mode: events.Persistent})
		}
		r.watchTree("/s/t")
		for _, path := range []string{"/", "/s", "/s/t/a"} {
			r.askAs(other, events.Get{Call: r.call(), Path: path, Watch: true})
			r.askAs(other, events.Children{Call: r.call(), Path: path, Watch: true})
		}
		r.askAs(other, events.Get{Call: r.call(), Path: "/s/t"})
		mustPost(t, "watches on other paths, and a read", r.watchEvents())
		r.askAs(cache, events.AddWatch{Call: r.call(), Path: "/s/t"})
		mustPost(t, "the same watch again", r.watchEvents())
		r.Execute(other, events.Children{Call: r.call(), Path: "/s/t", Watch: true})
		mustPost(t, "a watch on the same path", r.watchEvents(), "treecache-1 watch.replaced /s/t")
		r.ask(events.Delete{Call: r.call(), Path: "/s/t/a"})
		mustPost(t, "a deletion below it", r.watchEvents(), "latch-9 watch.deleted /s/t/a",
			"latch-9 watch.children /s/t")
		if again := r.watchTree("/s/t"); again.Code != "" {
			t.Errorf("nobody else watches the path: %+v", again)
		}
	})
}

// On a server that keeps watches of different modes apart, a one-shot watch on the path of the recursive one leaves it
// as it is, from the first event on, by which the client knows that.
func TestAOneShotWatchBesideARecursiveOne(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Release: zkmem.Release39})
	r, _ := attachedRig(t, srv)
	r.watchTree("/t")
	r.ask(events.Create{Call: r.call(), Path: "/t", Mode: events.Persistent})
	mustPost(t, "a create", r.watchEvents(), "treecache-1 watch.created /t")
	r.askAs(other, events.Get{Call: r.call(), Path: "/t", Watch: true})
	for _, want := range [][]string{{"latch-9 watch.changed /t", "treecache-1 watch.changed /t"},
		{"treecache-1 watch.changed /t"}} {
		r.askAs(cache, events.Get{Call: r.call(), Path: "/t"})
		r.ask(events.Multi{Call: r.call(), Ops: []events.Op{{Verb: "set", Path: "/t", Version: -1}}})
		got := r.watchEvents()
		slices.Sort(got)
		mustPost(t, "a write", got, want...)
	}
}

// A recursive watch that would take the place of others is not asked for. The event that its
// own was replaced can come while the request is pending.
func TestARecursiveWatchReplacesNoOther(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{})
		asked, release := 0, make(chan struct{})
		p.Intercept(func(q zkmem.Request) zkmem.Verdict {
			if q.Op != zkmem.OpAddWatch {
				return zkmem.Verdict{}
			}
			asked++
			return zkmem.Verdict{Wait: release}
		})
		r.askAs(other, events.Exists{Call: r.call(), Path: "/t", Watch: true})
		if refused := r.watchTree("/t"); refused.Code != events.Unimplemented || asked != 0 {
			t.Errorf("with a watch on the path: %+v, and %d requests", refused, asked)
		}
		r.Execute(cache, events.AddWatch{Call: r.call(), Path: "/u"})
		r.Execute(other, events.Exists{Call: r.call(), Path: "/u", Watch: true})
		if got := r.take(); got.To != cache || got.Event.Kind != events.WatchReplaced {
			t.Errorf("the first is %s to %s", got.Event.Kind, got.To)
		}
		close(release)
		r.await(events.ReplyWatch)
		r.ask(events.Create{Call: r.call(), Path: "/u", Mode: events.Persistent})
		mustPost(t, "a create", r.watchEvents(), "treecache-1 watch.replaced /u", "latch-9 watch.created /u")
	})
}

// What the server has sets no watch again on the next connection: only the machine can, and
// reads everything behind it.
func TestARecursiveWatchEndsWithItsConnection(t *testing.T) {
	srv := zkmem.Start(t)
	r, attached := attachedRig(t, srv)
	r.watchTree("/t")
	srv.Disconnect(attached.SessionID)
	r.await(events.ConnectionAttached)
	r.askAs(other, events.Exists{Call: r.call(), Path: "/t", Watch: true})
	r.ask(events.Create{Call: r.call(), Path: "/t", Mode: events.Persistent})
	mustPost(t, "after a reconnect", r.watchEvents(), "latch-9 watch.created /t")
	r.watchTree("/t")
	r.ask(events.Delete{Call: r.call(), Path: "/t"})
	mustPost(t, "after it was set again", r.watchEvents(), "treecache-1 watch.deleted /t")
}

// A recursive watch of a machine that has closed is removed: the server would go on to send
// its events. It stays while another machine waits for it.
func TestARecursiveWatchOfAClosedMachineIsRemoved(t *testing.T) {
	onReleases(t, func(t *testing.T, o zkmem.Options) {
		srv := zkmem.Start(t, o)
		r, _ := attachedRig(t, srv)
		r.watchTree("/t")
		r.watchTree("/u")
		r.askAs(other, events.AddWatch{Call: r.call(), Path: "/t"})
		r.Forget(cache)
		left := map[zkmem.Release]int{zkmem.Release38: 2,
			zkmem.Release39: 1}[o.Release] // 3.8 counts it as a watch of children, too
		waitFor(t, srv, "the end of one watch", func(v *zkmem.View) bool { return v.WatchCount() == left })
		r.ask(events.Create{Call: r.call(), Path: "/t", Mode: events.Persistent})
		mustPost(t, "a create", r.watchEvents(), "latch-9 watch.created /t")
		r.Forget(other)
		waitFor(t, srv, "the end of all", func(v *zkmem.View) bool { return v.WatchCount() == 0 })
		r.Execute(cache, events.AddWatch{Call: r.call(), Path: "/t"})
		r.Forget(cache)
		r.askAs(other, events.Get{Call: r.call(), Path: "/t", Watch: true})
		r.ask(events.Delete{Call: r.call(), Path: "/t"})
		mustPost(t, "a watch behind the removal", r.watchEvents(), "latch-9 watch.deleted /t")
	})
}

// A server that does not know recursive watches is asked once by a client, and one that ends
// the connection without an answer twice.
func TestServersThatDoNotKnowRecursiveWatches(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict zkmem.Verdict
		asked   int
	}{
		{"refused", zkmem.Verdict{Action: zkmem.Refuse, Code: zkmem.Unimplemented}, 1},
		{"cut off", zkmem.Verdict{Action: zkmem.CutBefore}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				p := newPipes(t, zkmem.Options{})
				r, _ := pipedRig(t, p, zkio.Config{})
				asked := 0
				p.Intercept(func(q zkmem.Request) zkmem.Verdict {
					if q.Op != zkmem.OpAddWatch {
						return zkmem.Verdict{}
					}
					asked++
					return c.verdict
				})
				for i := range 4 {
					set := r.watchTree("/t")
					if set.Code == events.ConnectionLoss {
						r.await(events.ConnectionAttached)
					} else if set.Code != events.Unimplemented {
						t.Errorf("attempt %d: %+v", i+1, set)
					}
				}
				if asked != c.asked {
					t.Errorf("the server was asked %d times, want %d", asked, c.asked)
				}
			})
		})
	}
}

// A connection that ends while a watch is being set says nothing once one was set.
func TestALostAnswerDoesNotTurnRecursiveWatchesOff(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		p := newPipes(t, zkmem.Options{})
		r, _ := pipedRig(t, p, zkio.Config{})
		r.watchTree("/t")
		remove := p.Intercept(func(q zkmem.Request) (v zkmem.Verdict) {
			if q.Op == zkmem.OpAddWatch {
				v.Action = zkmem.CutAfter
			}
			return v
		})
		for range 3 {
			r.watchTree("/t")
			r.await(events.ConnectionAttached)
		}
		remove()
		if set := r.watchTree("/t"); set.Code != "" {
			t.Errorf("after three lost answers: %+v", set)
		}
	})
}

// A real server: what a recursive watch reports, that it is removed, and what becomes of it
// when a one-shot watch is set on its path: since 3.9 the server keeps both, before it only the newer one.
func TestRealZooKeeperRecursiveWatch(t *testing.T) {
	realzk.Each(t, func(t *testing.T, release realzk.Release) {
		addr, _ := release.Shared(t)
		watchesTreeOnRealZooKeeper(t, addr, !release.At(t, addr).Before(realzk.Version{3, 9, 0}))
	})
}

func watchesTreeOnRealZooKeeper(t *testing.T, addr string, separates bool) {
	r := newRig(t, zkio.Config{Servers: []string{addr}})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	r.await(events.ConnectionAttached)
	if set := r.watchTree("/t"); set.Code != "" {
		t.Fatalf("the watch: %+v", set)
	}
	for _, path := range []string{"/t", "/t/a"} {
		r.ask(events.Create{Call: r.call(), Path: path, Mode: events.Persistent})
	}
	r.ask(events.Multi{Call: r.call(), Ops: []events.Op{{Verb: "set", Path: "/t/a", Version: -1}}})
	r.ask(events.Delete{Call: r.call(), Path: "/t/a"})
	mustPost(t, "writes", r.watchEvents(), "treecache-1 watch.created /t", "treecache-1 watch.created /t/a",
		"treecache-1 watch.changed /t/a", "treecache-1 watch.deleted /t/a")
	r.Forget(cache)
	r.ask(events.Create{Call: r.call(), Path: "/t/a", Mode: events.Persistent})
	mustPost(t, "after it was removed", r.watchEvents())
	r.watchTree("/t")
	r.askAs(other, events.Children{Call: r.call(), Path: "/t", Watch: true})
	r.ask(events.Multi{Call: r.call(), Ops: []events.Op{{Verb: "set", Path: "/t/a", Version: -1}}})
	if separates {
		mustPost(t, "a one-shot watch on its path", r.watchEvents(), "treecache-1 watch.changed /t/a")
		r.ask(events.Delete{Call: r.call(), Path: "/t/a"})
		mustPost(t, "both watches", r.watchEvents(), "treecache-1 watch.deleted /t/a", "latch-9 watch.children /t")
	} else {
		mustPost(t, "a one-shot watch on its path", r.watchEvents(), "treecache-1 watch.replaced /t")
		r.ask(events.Delete{Call: r.call(), Path: "/t/a"})
		mustPost(t, "the other watch", r.watchEvents(), "latch-9 watch.children /t")
	}
}
