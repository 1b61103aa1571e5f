package suite

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio"
)

// tree returns a started tree cache.
func (c *client) tree(path string, o incumbent.TreeCacheOptions) *incumbent.TreeCache {
	c.t.Helper()
	tree, err := c.TreeCache(path, o)
	ok(c.t, err)
	ok(c.t, tree.Start())
	return tree
}

// readied is tree, when all was read.
func (c *client) readied(path string, o incumbent.TreeCacheOptions) *incumbent.TreeCache {
	c.t.Helper()
	tree := c.tree(path, o)
	ok(c.t, tree.WaitReady(c.ctx))
	return tree
}

// words are nodes in short: "/a=one" or "/b!" for one that cannot be read.
func words(nodes iter.Seq[incumbent.TreeNode], dir string) string {
	var all []string
	for n := range nodes {
		all = append(all, word(n, dir))
	}
	return strings.Join(all, " ")
}

func word(n incumbent.TreeNode, dir string) string {
	name := strings.TrimPrefix(n.Path, dir)
	if n.Err != nil {
		return name + "!"
	}
	return name + "=" + string(n.Data)
}

// changeText returns the next change in short form: "added /a=one".
func changeText(next func() incumbent.TreeChange, dir string) string {
	c := next()
	text := string(c.Kind)
	if c.Path != "" {
		text += " " + word(c.TreeNode, dir)
	}
	if c.Missed != (incumbent.Missed{}) {
		text += fmt.Sprintf(" %+v", c.Missed)
	}
	return text
}

func mustTell(t *testing.T, next func() incumbent.TreeChange, dir string, want ...string) {
	t.Helper()
	for i, w := range want {
		if got := changeText(next, dir); got != w {
			t.Fatalf("change %d: got %q, want %q", i, got, w)
		}
	}
}

func mustHold(t *testing.T, tree *incumbent.TreeCache, dir, want string) {
	t.Helper()
	if got := words(tree.All(), dir); got != want {
		t.Fatalf("the cache has %q, want %q", got, want)
	}
}

func TestATreeCache(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c, dir := connected(t, e), e.dir()
		tree, err := c.TreeCache(dir, incumbent.TreeCacheOptions{})
		ok(t, err)
		is(t, tree.WaitReady(c.ctx), incumbent.ErrNotStarted)
		next := pull(t, tree.Changes(c.ctx))
		ok(t, tree.Start())
		is(t, tree.Start(), incumbent.ErrAlreadyStarted)
		mustTell(t, next, dir, "ready") // there is no such node, which is known
		ok(t, tree.WaitReady(c.ctx))
		if !tree.Ready() || tree.Stale() || tree.Path() != dir || tree.State() != incumbent.Started {
			t.Fatal(tree.Ready(), tree.Stale(), tree.Path(), tree.State())
		}
		_, err = c.Create(dir, []byte("top")).Parents().Do(c.ctx)
		ok(t, err)
		mustTell(t, next, dir, "added =top")
		e.create(dir+"/b", "secret one", 0)
		mustTell(t, next, dir, "added /b=secret one")
		e.create(dir+"/b/c", "", 0)
		mustTell(t, next, dir, "added /b/c=")
		_, err = c.Create(dir+"/a", []byte("brief")).Ephemeral().Do(c.ctx)
		ok(t, err)
		mustTell(t, next, dir, "added /a=brief")
		e.set(dir+"/b", "two")
		mustTell(t, next, dir, "changed /b=two")
		mustHold(t, tree, dir, "=top /a=brief /b=two /b/c=")
		if got := words(tree.Children(dir), dir); got != "/a=brief /b=two" {
			t.Fatal(got)
		}
		if n, there := tree.Get(dir + "/b"); !there || n.Stat.Version != 1 || n.Stat.DataLength != 3 {
			t.Fatalf("%+v", n)
		}
		// In one transaction, so that nobody sees what is between.
		_, err = c.Multi(incumbent.DeleteNode(dir+"/b/c", 0), incumbent.CreateNode(dir+"/b/c", []byte("again")),
			incumbent.SetData(dir, []byte("2"), 0), incumbent.SetData(dir, []byte("3"), 1)).Do(c.ctx)
		ok(t, err)
		got := []string{changeText(next, dir), changeText(next, dir)} // reads of different nodes
		slices.Sort(got)
		if want := []string{"changed /b/c=again {Outage:false Replaced:true Changes:0}",
			"changed =3 {Outage:false Replaced:false Changes:1}"}; !slices.Equal(got, want) {
			t.Fatalf("%q", got)
		}
		for _, node := range []string{"/b/c=again", "/b=two", "/a=brief", "=3"} {
			name, _, _ := strings.Cut(node, "=")
			e.remove(dir + name)
			mustTell(t, next, dir, "removed "+node)
		}
		ok(t, tree.Close(c.ctx))
		ok(t, tree.Close(c.ctx))
		if !tree.Stale() || tree.State() != incumbent.Closed {
			t.Fatal("closed, and not stale")
		}
		for _, err := range tree.Changes(c.ctx) {
			is(t, err, incumbent.ErrClosed)
		}
		if strings.Contains(c.log(), "secret") {
			t.Fatal("the log tells what is in the nodes")
		}
	})
}

// After an outage, and in the next session, the difference is reported; until then the
// cache says that it is stale, and can be read.
func TestATreeCacheOverAnOutage(t *testing.T) {
	for _, expires := range []bool{false, true} {
		e := inMemory(t)
		c := connected(t, e)
		for _, path := range []string{"/t", "/t/same", "/t/set", "/t/gone", "/t/gone/below", "/t/new"} {
			e.create(path, "1", 0)
		}
		tree := c.readied("/t", incumbent.TreeCacheOptions{})
		next := pull(t, tree.Changes(c.ctx))
		mustTell(t, next, "/t", "added =1", "added /gone=1", "added /gone/below=1", "added /new=1", "added /same=1",
			"added /set=1", "ready")
		e.RefuseConnections(true)
		c.cut()
		if expires {
			e.ExpireSession(e.Sessions()[0].ID)
		}
		for _, path := range []string{"/t/gone/below", "/t/gone", "/t/new"} {
			e.remove(path)
		}
		e.create("/t/new", "2", 0)
		e.create("/t/more", "2", 0)
		for range 3 {
			e.set("/t/set", "4")
		}
		mustTell(t, next, "/t", "stale")
		if !tree.Ready() || !tree.Stale() {
			t.Fatal(tree.Ready(), tree.Stale())
		}
		mustHold(t, tree, "/t", "=1 /gone=1 /gone/below=1 /new=1 /same=1 /set=1")
		ok(t, tree.WaitReady(c.ctx))
		e.RefuseConnections(false)
		const doubt = " {Outage:true Replaced:false Changes:0}"
		mustTell(t, next, "/t", "removed /gone/below=1"+doubt, "removed /gone=1"+doubt,
			"changed /new=2 {Outage:true Replaced:true Changes:0}",
			"changed /set=4 {Outage:true Replaced:false Changes:2}", "added /more=2"+doubt, "ready"+doubt)
		mustHold(t, tree, "/t", "=1 /more=2 /new=2 /same=1 /set=4")
		ok(t, c.Close(c.ctx))
		if !tree.Stale() {
			t.Fatal("its client is closed, and it is not stale")
		}
		is(t, tree.WaitReady(c.ctx), nil) // it was, once
	}
}

// The sum of the changes while the loop's body runs is reported.
func TestASlowLoopOverATree(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for _, path := range []string{"/t", "/t/a", "/t/b", "/t/c"} {
		e.create(path, "1", 0)
	}
	tree := c.readied("/t", incumbent.TreeCacheOptions{})
	next := pull(t, tree.Changes(c.ctx))
	mustTell(t, next, "/t", "added =1") // the others wait
	seen := pull(t, tree.Changes(c.ctx))
	mustTell(t, seen, "/t", "added =1", "added /a=1", "added /b=1", "added /c=1", "ready")
	e.set("/t/a", "2")
	mustTell(t, seen, "/t", "changed /a=2")
	e.remove("/t/b")
	mustTell(t, seen, "/t", "removed /b=1")
	e.set("/t", "2")
	mustTell(t, seen, "/t", "changed =2")
	e.set("/t", "3")
	mustTell(t, seen, "/t", "changed =3")
	e.create("/t/d", "1", 0)
	mustTell(t, seen, "/t", "added /d=1")
	e.create("/t/d/e", "1", 0)
	mustTell(t, seen, "/t", "added /d/e=1")
	e.set("/t/d", "2")
	mustTell(t, seen, "/t", "changed /d=2")
	mustTell(t, next, "/t", "added /a=2 {Outage:false Replaced:false Changes:1}", "added /c=1", "ready",
		"changed =3 {Outage:false Replaced:false Changes:1}",
		"added /d=2 {Outage:false Replaced:false Changes:1}", "added /d/e=1")
	e.remove("/t/c")
	mustTell(t, seen, "/t", "removed /c=1")
	e.create("/t/c", "2", 0)
	mustTell(t, seen, "/t", "added /c=2")
	mustTell(t, next, "/t", "changed /c=2 {Outage:false Replaced:true Changes:0}")
}

// A node that may not be read is known as such, and the rest is read.
func TestATreeCacheOfWhatCannotBeRead(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/c"} {
		e.create(path, "1", 0)
	}
	e.allow("/t/a", zkio.PermAll&^zkio.PermRead)
	tree := c.readied("/t", incumbent.TreeCacheOptions{})
	mustHold(t, tree, "/t", "=1 /a! /c=1")
	n, _ := tree.Get("/t/a")
	is(t, n.Err, incumbent.ErrNoAuth)
	ok(t, tree.Err())
	next := pull(t, tree.Changes(c.ctx))
	mustTell(t, next, "/t", "added =1", "added /a!", "added /c=1", "ready")
	e.allow("/t/a", zkio.PermAll)
	e.create("/t/d", "1", 0) // its directory changes: it is tried again
	mustTell(t, next, "/t", "changed /a=1", "added /d=1", "added /a/b=1")
}

// The node at the top is asked for until it can be read.
func TestATreeCacheOfWhatCannotBeReadYet(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	e.create("/t", "1", 0)
	e.allow("/t", zkio.PermAll&^zkio.PermRead)
	tree := c.tree("/t", incumbent.TreeCacheOptions{Retry: incumbent.RetryForever(time.Millisecond)})
	next, stop := iter.Pull2(tree.Changes(c.ctx))
	defer stop()
	_, err, _ := next()
	is(t, err, incumbent.ErrNoAuth)
	err = tree.WaitReady(brief())
	is(t, err, context.Canceled)
	is(t, err, incumbent.ErrNoAuth)
	e.allow("/t", zkio.PermAll)
	ok(t, tree.WaitReady(c.ctx))
	ok(t, tree.Err())
	mustHold(t, tree, "/t", "=1")
}

func TestATreeCacheThatIsTooSmall(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for _, path := range []string{"/t", "/t/a", "/t/b"} {
		e.create(path, "1", 0)
	}
	is(t, c.tree("/t", incumbent.TreeCacheOptions{MaxNodes: 2}).WaitReady(c.ctx), incumbent.ErrTreeTooLarge)
	tree := c.readied("/t", incumbent.TreeCacheOptions{MaxNodes: 3})
	next, stop := iter.Pull2(tree.Changes(c.ctx))
	defer stop()
	e.create("/t/c", "1", 0)
	for {
		_, err, more := next()
		if err != nil || !more {
			is(t, err, incumbent.ErrTreeTooLarge)
			break
		}
	}
	is(t, tree.WaitReady(c.ctx), incumbent.ErrTreeTooLarge)
	c.tape.State("treecache-2", "overfull")
	if tree.Ready() || !tree.Stale() {
		t.Fatal(tree.Ready(), tree.Stale())
	}
	is(t, tree.Err(), incumbent.ErrTreeTooLarge)
}

func TestATreeCacheOfOneLevelWithoutData(t *testing.T) {
	e := inMemory(t)
	c := connected(t, e)
	for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
		e.create(path, "one", 0)
	}
	tree := c.readied("/", incumbent.TreeCacheOptions{Depth: 1, WithoutData: true})
	mustHold(t, tree, "", "/= /t= /zookeeper=")
	if n, there := tree.Get("/t"); !there || n.Data != nil || n.Stat.DataLength != 3 {
		t.Fatalf("%+v", n)
	}
	for range tree.Children("/nowhere") {
		t.Error("a child of a node that is not known")
	}
}

func TestTreeCachesAreRefusedWithReasons(t *testing.T) {
	c := connected(t, inMemory(t))
	for path, o := range map[string]incumbent.TreeCacheOptions{"t": {}, "/t": {Depth: -1}, "/u": {MaxNodes: -1}} {
		if _, err := c.TreeCache(path, o); err == nil {
			t.Errorf("%s, %+v is taken", path, o)
		}
	}
	idle, err := c.TreeCache("/t", incumbent.TreeCacheOptions{})
	ok(t, err)
	waiting := c.tree("/t", incumbent.TreeCacheOptions{})
	ok(t, c.Close(c.ctx))
	is(t, idle.Start(), incumbent.ErrClosed)
	_ = waiting.WaitReady(c.ctx) // it may have been ready
	_, err = c.TreeCache("/t", incumbent.TreeCacheOptions{})
	is(t, err, incumbent.ErrClosed)
}

// While the client watches the node at the top in another way, a cache of the whole tree has no
// recursive watch where the server may keep only one of the two: it misses nothing, whichever
// comes first.
func TestATreeCacheOfANodeThatIsWatchedInAnotherWay(t *testing.T) {
	both(t, func(t *testing.T, e ensemble) {
		c, dir := connected(t, e), e.dir()
		_, err := c.Create(dir, []byte("top")).Parents().Do(c.ctx)
		ok(t, err)
		e.create(dir+"/a", "1", 0)
		first := c.readied(dir, incumbent.TreeCacheOptions{})
		shallow := c.readied(dir, incumbent.TreeCacheOptions{Depth: 1})
		second := c.readied(dir, incumbent.TreeCacheOptions{})
		e.create(dir+"/b", "1", 0)
		e.create(dir+"/b/c", "1", 0)
		for _, tree := range []*incumbent.TreeCache{first, second} {
			c.mustComeToHold(tree, dir, "=top /a=1 /b=1 /b/c=1")
		}
		e.set(dir+"/b/c", "2")
		e.remove(dir + "/a")
		for _, tree := range []*incumbent.TreeCache{first, second} {
			c.mustComeToHold(tree, dir, "=top /b=1 /b/c=2")
		}
		c.mustComeToHold(shallow, dir, "=top /b=1")
		ok(t, shallow.Close(c.ctx))
		text := c.log()
		if strings.Contains(text, "addwatch") != strings.Contains(text, "watch.replaced") {
			t.Error("a recursive watch was set, and nothing took its place")
		}
	})
}

// mustComeToHold returns when a cache has these nodes.
func (c *client) mustComeToHold(tree *incumbent.TreeCache, dir, want string) {
	c.t.Helper()
	for _, err := range tree.Changes(c.ctx) {
		ok(c.t, err)
		if words(tree.All(), dir) == want && !tree.Stale() {
			return
		}
	}
	c.t.Fatalf("the cache has %q, want %q", words(tree.All(), dir), want)
}
