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

// Missed says which changes of a watched node a feed may have missed between one value and
// the next. The zero value means: none that can be known. It cannot be known what was done
// to a node just before it was deleted, nor that a node came and went meanwhile.
type Missed struct {
	Outage   bool // there was no connection for a while: a node may have come and gone
	Replaced bool // it is another node at the same path: the one before was deleted
	Changes  int  // how many writes of its data, or creations and deletions of children, were not seen
}

// NodeChange is what a watched node is now.
type NodeChange struct {
	Exists bool
	Node          // zero if there is none
	Missed Missed // since the value before
	outage int    // number of outages so far
}

// ChildrenChange is what the children of a watched node are now.
type ChildrenChange struct {
	Exists   bool     // the node itself is there
	Children []string // in alphabetical order
	Stat     Stat     // the node's
	Missed   Missed   // since the value before
	outage   int
}

// WatchNode returns a feed of a node's data and Stat, now and whenever they change, and
// when the node is created or deleted, until the context ends or the loop over it is left.
// It survives reconnects and expiries, after which it yields the node again.
//
// A watch of ZooKeeper says that something changed, and not what: by the time the node is
// read again, more may have happened. The same holds while the loop's body runs, because
// only the newest value is kept for it. NodeChange.Missed says how much was missed: exactly
// if versions show it, and as possible after an outage.
//
// It costs one read for each change, and two if the node does not exist. An error (no
// permission, say) is yielded too, and watching goes on; the context's end is not yielded.
// The loop's body may call anything of this package.
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

// WatchChildren returns a feed of the names of a node's children, now and whenever children
// are created or deleted, and when the node itself is, until the context ends or the loop
// over it is left. It costs one listing for each change. All else is as in WatchNode. For
// the members of a group use WatchMembers, which does not yield the same members twice.
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

// missed returns what two Stats show of the time between them.
func missed(was, is bool, before, after Stat, outage bool) Missed {
	return Missed{Outage: outage, Replaced: was && is && before.Czxid != after.Czxid}
}

// missedWrites is missed with the number of writes of a node's data.
func missedWrites(was, is bool, before, after Stat, outage bool) Missed {
	m := missed(was, is, before, after, outage)
	switch { // the change that is yielded is one of the writes
	case !m.Replaced && was && is:
		m.Changes = max(int(after.Version-before.Version)-1, 0)
	case is:
		m.Changes = int(after.Version)
	}
	return m
}

// differences returns how many names are in one of two sorted lists only.
func differences(a, b []string) (n int) {
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); !found {
			n++
		}
	}
	return n + len(b) - (len(a) - n)
}

// diffFeed returns a feed whose values are compared with the one before; the first value is
// unchanged.
func diffFeed[T any](seen iter.Seq2[T, error], compare func(last T, now *T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last T
		yielded := false
		for now, err := range seen {
			if err == nil {
				if yielded {
					compare(last, &now)
				}
				last, yielded = now, true
			}
			if !yield(now, err) {
				return
			}
		}
	}
}

// nodeFeed returns the feed of a machine that watches one node for the user. Value makes a
// feed's value of a reply, empty if there is no node, and of the number of outages so far.
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
