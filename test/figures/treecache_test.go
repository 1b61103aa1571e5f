package figures

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/tape"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A tree of 1,000 nodes costs one read for each and one listing for each directory, and has one
// recursive watch on the server; a change of one costs one read. Without the recursive watch each
// node is listed, and has two watches.
func TestRequestsOfATreeCache(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/t")
	const dirs, each = 10, 99
	for d := range dirs {
		found(t, srv, fmt.Sprintf("/t/%d", d))
		for i := range each {
			found(t, srv, fmt.Sprintf("/t/%d/%d", d, i))
		}
	}
	c := open(t, srv)
	tree := func(c *client, depth int) *incumbent.TreeCache {
		reset(srv)
		tree, err := c.TreeCache("/t", incumbent.TreeCacheOptions{Depth: depth})
		ok(t, err)
		ok(t, tree.Start())
		ok(t, tree.WaitReady(c.ctx))
		return tree
	}
	const nodes = 1 + dirs + dirs*each
	ok(t, tree(c, 1).Close(c.ctx))
	figure(t, "a tree cache of a directory with 10 children, read: requests", counts(srv).Total, 1+dirs+1)
	ok(t, tree(c, 2).Close(c.ctx))
	figure(t, "a tree cache of 1,001 nodes in two levels, read: requests", counts(srv).Total, nodes+1+dirs)
	plain := open(t, srv, func(config *incumbent.Config) { config.Disable.RecursiveWatches = true })
	watches := func() (n int) {
		srv.View(func(v *zkmem.View) { n = v.WatchCount() })
		return n
	}
	before := watches()
	ok(t, tree(plain, 0).Close(c.ctx))
	figure(t, "a tree cache of 1,001 nodes without a recursive watch, read: requests", counts(srv).Total, 2*nodes)
	figure(t, "a tree cache of 1,001 nodes without a recursive watch: watches", watches()-before, 2*nodes)
	c = open(t, srv) // the server has watches for the other one, of caches that are closed
	before = watches()
	whole := tree(c, 0)
	figure(t, "a tree cache of 1,001 nodes, read: requests", counts(srv).Total, nodes+1+dirs+1)
	figure(t, "a tree cache of 1,001 nodes: watches, as the server counts a recursive one", watches()-before, 2)

	until := follow(c, whole)
	until(incumbent.TreeReady, "")
	reset(srv)
	ok(t, srv.Set("/t/3/7", nil))
	until(incumbent.NodeChanged, "/t/3/7")
	figure(t, "a node of a tree cache changes: requests", counts(srv).Total, 1)

	reset(srv)
	ok(t, srv.Delete("/t/3/7"))
	until(incumbent.NodeRemoved, "/t/3/7")
	figure(t, "a node of a tree cache goes: requests", counts(srv).Total, 1)

	reset(srv)
	_, err := srv.Create("/t/3/7", nil, zkmem.Persistent)
	ok(t, err)
	until(incumbent.NodeAdded, "/t/3/7")
	ok(t, srv.Set("/t/3", nil)) // its read comes after that of the new node
	until(incumbent.NodeChanged, "/t/3")
	figure(t, "a node of a tree cache comes, and its directory changes: requests", counts(srv).Total, 2)
	ok(t, whole.Close(c.ctx))
}

// follow returns a function that waits for a change of a tree cache.
func follow(c *client, tree *incumbent.TreeCache) (until func(incumbent.TreeChangeKind, string) incumbent.TreeChange) {
	next, stop := iter.Pull2(tree.Changes(c.ctx))
	c.t.Cleanup(stop)
	return func(kind incumbent.TreeChangeKind, path string) incumbent.TreeChange {
		c.t.Helper()
		for {
			change, err, more := next()
			ok(c.t, err)
			if !more {
				c.t.Fatalf("the feed ended before %q was %s", path, kind)
			}
			if change.Kind == kind && change.Path == path {
				return change
			}
		}
	}
}

// 100 writes of a node cost one read if all their events come before that read is sent. If some come while a
// read of the node is pending, there is one more after it. Both happen here on purpose, because otherwise it would
// depend on who is faster.
func TestRequestsOfManyWritesOfOneNode(t *testing.T) {
	srv := zkmem.Start(t)
	found(t, srv, "/t", "/t/busy", "/t/idle")
	const pending = 32 // the most reads that a cache has pending
	for i := range pending {
		found(t, srv, fmt.Sprintf("/t/%d", i))
	}
	c := open(t, srv)
	tree, err := c.TreeCache("/t", incumbent.TreeCacheOptions{})
	ok(t, err)
	ok(t, tree.Start())
	until := follow(c, tree)
	until(incumbent.TreeReady, "")
	const many = 100
	write := func(path string) {
		op := zkmem.Op{Code: zkmem.OpSetData, Path: path, Version: zkmem.AnyVersion}
		_, err := srv.Do(zkmem.Op{Code: zkmem.OpMulti, Ops: slices.Repeat([]zkmem.Op{op}, many)})
		ok(t, err)
	}
	missed := func(path string) int { return until(incumbent.NodeChanged, path).Missed.Changes }

	// The server has the read for one more write when the 100 are made, and answers it after their events.
	asked, answer := make(chan struct{}, 1), make(chan struct{})
	remove := srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if r.Op == zkmem.OpGetData {
			asked <- struct{}{}
			v.Wait = answer
		}
		return v
	})
	reset(srv)
	ok(t, srv.Set("/t/busy", nil))
	<-asked
	remove()
	write("/t/busy")
	close(answer)
	figure(t, "100 writes of a node while it is read: not notified one by one", missed("/t/busy"), many)
	figure(t, "100 writes of a node while it is read: requests, the first read included", counts(srv).Total, 2)

	// The server answers nothing until it has sent all events. So the node is not read before all have come,
	// because as many reads as there may be are pending.
	reset(srv)
	srv.Freeze(zkmem.Inbound)
	for i := range pending {
		ok(t, srv.Set(fmt.Sprintf("/t/%d", i), nil))
	}
	write("/t/idle")
	srv.Heal()
	figure(t, "100 writes of a node before it is read: not notified one by one", missed("/t/idle"), many-1)
	figure(t, "100 writes of a node before it is read: requests", counts(srv).Total-pending, 1)
	posted := 0
	c.tape.Until("two reads of /t/idle", func(records []events.Record) bool {
		reads := 0
		posted = 0
		for _, r := range records {
			switch {
			case r.Event.Path != "/t/idle":
			case r.Event.Kind == events.WatchChanged:
				posted++
			case r.Event.Kind == events.ReplyStat:
				reads++
			}
		}
		return reads >= 2 // at the start, and after the writes
	})
	figure(t, "100 writes of a node before it is read: events that the machine gets", posted, 1)
	ok(t, tree.Close(c.ctx))
}

// The memory of a cache for each node, without its data: its change and the machine's
// state; and, without a recursive watch, two watches.
func TestMemoryOfATreeCache(t *testing.T) { alone(t, memoryOfATreeCache) }

func memoryOfATreeCache(t *testing.T) {
	srv := zkmem.Start(t)
	paths := []string{"/services"}
	for many := size(); len(paths) < many; {
		dir := fmt.Sprintf("/services/service-%03d", len(paths)/100)
		paths = append(paths, dir)
		for i := range 99 {
			paths = append(paths, fmt.Sprintf("%s/instance-%05d", dir, i))
		}
	}
	found(t, srv, paths...)
	for _, plain := range []bool{false, true} {
		own, what := memoryOfTree(t, srv, plain), "with a recursive watch"
		if plain {
			own, what = own-watchesOf(paths), "with watches of their own"
		}
		what = fmt.Sprintf("bytes of heap for each of the %d nodes of a tree cache, %s, without data", len(paths), what)
		figure(t, what, int(own)/len(paths), 1<<10)
	}
}

// memoryOfTree returns the memory of a cache of /services, and of the server's watches for it.
func memoryOfTree(t *testing.T, srv *zkmem.Server, plain bool) int64 {
	// Without a recorder: its buffers would be counted, too.
	ctx, cancel := context.WithTimeout(context.Background(), 10*tape.Within)
	defer cancel()
	// A session that outlasts what a busy machine does to it: an outage is not asked about.
	config := incumbent.Config{Servers: srv.Addr(), SessionTimeout: 40 * time.Second}
	config.Disable.RecursiveWatches = plain
	c, err := incumbent.Open(ctx, config)
	ok(t, err)
	defer func() { _ = c.Close(ctx) }() // how it ends is no figure
	ok(t, c.WaitConnected(ctx))
	before := heap()
	tree, err := c.TreeCache("/services", incumbent.TreeCacheOptions{})
	ok(t, err)
	ok(t, tree.Start())
	ok(t, tree.WaitReady(ctx))
	own := heap() - before
	runtime.KeepAlive(tree)
	return own
}

// watchesOf returns what the server, which is also in this process, needs for two watches
// on each path.
func watchesOf(paths []string) int64 {
	before := heap()
	table := zkmem.NewWatches[*int](zkmem.Release39)
	for _, path := range paths {
		table.Add(zkmem.DataWatch, strings.Clone(path), nil)
		table.Add(zkmem.ChildWatch, strings.Clone(path), nil)
	}
	after := heap()
	runtime.KeepAlive(table)
	return after - before
}
