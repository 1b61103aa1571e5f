package figures

import (
	"fmt"
	"iter"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// A tree of 1,000 nodes costs one read for each and one listing for each directory;
// a change of one costs one read, however many were made at once.
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
	tree := func(depth int) *incumbent.TreeCache {
		srv.ResetCounts()
		tree, err := c.TreeCache("/t", incumbent.TreeCacheOptions{Depth: depth})
		ok(t, err)
		ok(t, tree.Start())
		ok(t, tree.WaitReady(c.ctx))
		return tree
	}
	const nodes = 1 + dirs + dirs*each
	ok(t, tree(1).Close(c.ctx))
	figure(t, "a tree cache of a directory with 10 children, read: requests", srv.Counts().Total, 1+dirs+1)
	ok(t, tree(2).Close(c.ctx))
	figure(t, "a tree cache of 1,001 nodes in two levels, read: requests", srv.Counts().Total, nodes+1+dirs)
	whole := tree(0)
	figure(t, "a tree cache of 1,001 nodes, the leaves listed too, read: requests", srv.Counts().Total, 2*nodes)

	next, stop := iter.Pull2(whole.Changes(c.ctx))
	defer stop()
	until := func(kind incumbent.TreeChangeKind) incumbent.TreeChange {
		for {
			change, err, _ := next()
			ok(t, err)
			if change.Kind == kind {
				return change
			}
		}
	}
	until(incumbent.TreeReady)
	srv.ResetCounts()
	ok(t, srv.Set("/t/3/7", nil))
	until(incumbent.NodeChanged)
	figure(t, "a node of a tree cache changes: requests", srv.Counts().Total, 1)

	srv.ResetCounts()
	herd := make([]zkmem.Op, 100)
	for i := range herd {
		herd[i] = zkmem.Op{Code: zkmem.OpSetData, Path: "/t/3/7", Version: zkmem.AnyVersion}
	}
	_, err := srv.Do(zkmem.Op{Code: zkmem.OpMulti, Ops: herd})
	ok(t, err)
	figure(t, "100 writes of one node between two reads: not told one by one", until(incumbent.NodeChanged).Missed.Changes, 99)
	figure(t, "100 writes of one node between two reads: requests", srv.Counts().Total, 1)

	srv.ResetCounts()
	ok(t, srv.Delete("/t/3/7"))
	until(incumbent.NodeRemoved)
	figure(t, "a node of a tree cache goes: requests", srv.Counts().Total, 1)

	srv.ResetCounts()
	_, err = srv.Create("/t/3/7", nil, zkmem.Persistent)
	ok(t, err)
	until(incumbent.NodeAdded)
	ok(t, srv.Set("/t/3", nil)) // its read comes after the listing of the new node
	until(incumbent.NodeChanged)
	figure(t, "a node of a tree cache comes, and its directory changes: requests", srv.Counts().Total, 4)
	ok(t, whole.Close(c.ctx))
}
