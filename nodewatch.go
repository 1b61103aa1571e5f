package incumbent

import (
	"context"
	"iter"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// Missed says what may have happened to a watched node between one value of a
// feed and the next without being told. The zero value says: nothing that can be
// known. What was done to a node just before it was deleted cannot, nor a node that
// came and went meanwhile.
type Missed struct {
	Outage   bool // there was no connection for a while: a node may have come and gone
	Replaced bool // it is another node at the same path: the one before was deleted
	Changes  int  // so many writes of its data, or comings and goings of children, were not seen
}

// NodeChange is what a watched node is now.
type NodeChange struct {
	Exists bool
	Node          // unless there is none
	Missed Missed // since the value before
	outage int    // how many there were
}

// ChildrenChange is what the children of a watched node are now.
type ChildrenChange struct {
	Exists   bool     // the node itself is there
	Children []string // in alphabetical order
	Stat     Stat     // the node's
	Missed   Missed   // since the value before
	outage   int
}

// WatchNode tells a node's data and Stat, now and whenever they change, and when
// the node comes or goes, until the context ends or the loop over it is left. It
// survives reconnects and expiries, after which it tells the node again.
//
// A watch of ZooKeeper's tells that something changed, and not what: by the time
// the node is read again, more may have happened; so it may while the loop's body
// runs, because only the newest value is kept for it. NodeChange.Missed says how
// much was missed: exactly where versions tell, and as a doubt after an outage.
//
// It costs one read for each change, and two when the node is not there. An error
// is told beside the changes (no permission, say), and watching goes on; the
// context's end is not told. The loop's body may call anything of this package.
func (c *Client) WatchNode(ctx context.Context, path string) iter.Seq2[NodeChange, error] {
	seen := nodeFeed(ctx, c, machines.NodewatchRecipe, path, func(kept zkio.Kept, outages int) NodeChange {
		if kept.Stat == nil {
			return NodeChange{outage: outages}
		}
		return NodeChange{Exists: true, Node: Node{kept.Data, Stat(*kept.Stat)}, outage: outages}
	})
	return diffFeed(seen, func(last NodeChange, now *NodeChange) {
		now.Missed = missedWrites(last.Exists, now.Exists, last.Stat, now.Stat, last.outage != now.outage)
	})
}

// WatchChildren tells the names of a node's children, now and whenever children
// come or go, and when the node itself does, until the context ends or the loop
// over it is left. It costs one listing for each change. All else is as in
// WatchNode. Who is in a group is better asked of WatchMembers, which tells what
// is the same only once.
func (c *Client) WatchChildren(ctx context.Context, path string) iter.Seq2[ChildrenChange, error] {
	seen := nodeFeed(ctx, c, machines.MembershipRecipe, path, func(kept zkio.Kept, outages int) ChildrenChange {
		if kept.Stat == nil {
			return ChildrenChange{outage: outages}
		}
		return ChildrenChange{Exists: true, Children: slices.Sorted(slices.Values(kept.Children)), Stat: Stat(*kept.Stat), outage: outages}
	})
	return diffFeed(seen, func(last ChildrenChange, now *ChildrenChange) {
		now.Missed = missed(last.Exists, now.Exists, last.Stat, now.Stat, last.outage != now.outage)
		before := last
		if now.Missed.Replaced {
			before = ChildrenChange{}
		}
		if now.Exists {
			happened := int(now.Stat.Cversion - before.Stat.Cversion)
			now.Missed.Changes = max(happened-differences(before.Children, now.Children), 0)
		}
	})
}

// missed is what two Stats tell of the time between them.
func missed(was, is bool, before, after Stat, outage bool) Missed {
	return Missed{Outage: outage, Replaced: was && is && before.Czxid != after.Czxid}
}

// missedWrites is missed with the writes of a node's data.
func missedWrites(was, is bool, before, after Stat, outage bool) Missed {
	m := missed(was, is, before, after, outage)
	switch { // a change that is told is one of them
	case !m.Replaced && was && is:
		m.Changes = max(int(after.Version-before.Version)-1, 0)
	case is:
		m.Changes = int(after.Version)
	}
	return m
}

// differences is how many names are in one of two sorted lists only.
func differences(a, b []string) (n int) {
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); !found {
			n++
		}
	}
	return n + len(b) - (len(a) - n)
}

// diffFeed is a feed whose values are compared with what was told before; the
// first one is told as it is.
func diffFeed[T any](seen iter.Seq2[T, error], compare func(last T, now *T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last T
		told := false
		for now, err := range seen {
			if err == nil {
				if told {
					compare(last, &now)
				}
				last, told = now, true
			}
			if !yield(now, err) {
				return
			}
		}
	}
}

// nodeFeed is the feed of a machine that watches one node for the user. Value makes
// what is told of an answer, empty where there is no node, after so many outages.
func nodeFeed[T any](ctx context.Context, c *Client, recipe engine.Recipe, path string, value func(kept zkio.Kept, outages int) T) iter.Seq2[T, error] {
	return stream(ctx, c, func(f *feed[T]) error {
		if err := checkNode(path); err != nil {
			return err
		}
		outages := 0
		open := events.Event{Path: path, Options: map[string]string{"view": "true"}}
		return f.watch(recipe.Name(), open, func(n events.Notify, kept zkio.Kept) {
			if n.Code == events.ConnectionLoss {
				outages++
			}
			f.put(feedItem[T]{key: path, value: value(kept, outages)})
		})
	})
}
