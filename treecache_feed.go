package incumbent

import (
	"context"
	"iter"
)

// TreeChangeKind is the kind of a TreeChange.
type TreeChangeKind string

// The kinds of change of a tree cache. Ready comes when the whole tree has been read, at
// first and after every time that the cache was stale: all differences came before it.
// Stale comes when the tree has to be read again.
const (
	NodeAdded   TreeChangeKind = "added"
	NodeChanged TreeChangeKind = "changed" // its data, or whether it can be read; or it is another node, see Missed
	NodeRemoved TreeChangeKind = "removed"
	TreeReady   TreeChangeKind = "ready"
	TreeStale   TreeChangeKind = "stale"
)

// TreeChange is one difference between what a loop got of a tree and what the cache knows
// now.
type TreeChange struct {
	Kind     TreeChangeKind
	TreeNode        // of the three kinds that are about a node; a removed one as it was last
	Missed   Missed // of the node, since its last change; of TreeReady, that nodes may have come and gone
}

// Changes returns a feed: first the nodes that are known, as added, then TreeReady or
// TreeStale, and from then on every change, until the context ends, the cache is closed or
// the loop is left. There may be any number of loops. One that begins before Start waits for
// it, and misses nothing: call Start on another goroutine, or before.
//
// The changes are complete by themselves: a program that adds, sets and removes as they say
// has the cache's own view after each TreeReady. A node is added after its parent and
// removed before it. After an outage the differences come, not all nodes again. A slow loop
// misses changes in between and never the last state: changes of a node while the loop's
// body runs are merged into one, and TreeChange.Missed says how many those were.
//
// An error (ErrNoAuth for the top node, say) is yielded too, and the cache goes on, except
// after ErrTreeTooLarge; the ends of the context and of the cache are not yielded.
func (t *TreeCache) Changes(ctx context.Context) iter.Seq2[TreeChange, error] {
	return stream(ctx, t.machine.client, t.addReader)
}

// addReader sends a new reader what is known; from then on it gets the changes.
func (t *TreeCache) addReader(f *feed[TreeChange]) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	select {
	case <-t.machine.commands.ended:
		return asCallError("changes", t.machine.path, ErrClosed)
	case <-t.machine.client.closed:
		return asCallError("changes", t.machine.path, ErrClosed)
	default:
	}
	f.ended, f.merge = t.machine.commands.ended, merge
	f.onClose = append(f.onClose, func() { t.removeReader(f) })
	t.readers[f] = true
	for _, n := range t.all() {
		f.put(TreeChange{Kind: NodeAdded, TreeNode: n}.item())
	}
	switch {
	case t.end != nil:
		f.put(feedItem[TreeChange]{key: errorKey, err: t.end})
	case !t.stale:
		f.put(TreeChange{Kind: TreeReady}.item())
	case t.complete():
		f.put(TreeChange{Kind: TreeStale}.item())
	}
	return nil
}

func (t *TreeCache) removeReader(f *feed[TreeChange]) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.readers, f)
}

// put sends a change to every reader. It is called under the lock.
func (t *TreeCache) put(c TreeChange) {
	for f := range t.readers {
		f.put(c.item())
	}
}

// item returns the change as a feed's item: one key for each node, and one for the whole
// tree.
func (c TreeChange) item() feedItem[TreeChange] { return feedItem[TreeChange]{key: c.Path, value: c} }

// merge returns the sum of two changes of a node, the first of which was not read. A new
// node stays at its place, before its children; a removed one, or one that comes back, goes
// to the end, after them.
func merge(unread, next TreeChange) (TreeChange, mergePlace) {
	next.Missed.Outage = next.Missed.Outage || unread.Missed.Outage
	switch {
	case unread.Kind == NodeAdded && next.Kind == NodeRemoved:
		return next, dropped
	case unread.Kind == NodeRemoved && next.Kind == NodeAdded:
		next.Kind, next.Missed.Replaced = NodeChanged, true
	case next.Kind == NodeChanged:
		next.Kind = unread.Kind
		next.Missed.Replaced = next.Missed.Replaced || unread.Missed.Replaced
		next.Missed.Changes += unread.Missed.Changes + 1
		return next, inPlace
	}
	return next, atEnd
}
