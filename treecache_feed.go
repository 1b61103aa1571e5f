package incumbent

import (
	"context"
	"iter"
)

// TreeChangeKind says what a TreeChange tells.
type TreeChangeKind string

// What happens to a tree cache. Ready comes when the whole tree has been read, at
// first and after every time that the cache was stale: all that was found to be
// different was told before. Stale comes where that has to be waited for.
const (
	NodeAdded   TreeChangeKind = "added"
	NodeChanged TreeChangeKind = "changed" // its data, or whether it can be read; or it is another node, see Missed
	NodeRemoved TreeChangeKind = "removed"
	TreeReady   TreeChangeKind = "ready"
	TreeStale   TreeChangeKind = "stale"
)

// TreeChange is one difference between what a loop was told of a tree and what
// the cache knows now.
type TreeChange struct {
	Kind     TreeChangeKind
	TreeNode        // of the three that are about one; what was removed as it was last
	Missed   Missed // of the node, since it was told last; of TreeReady, that nodes may have come and gone
}

// Changes tells the nodes that are known, as added, then TreeReady or TreeStale,
// and from then on every change, until the context ends, the cache is closed or
// the loop is left. There may be any number of loops, before Start, too.
//
// What is told is always right by itself: whoever adds, sets and removes as they
// are told has the cache's own view after each TreeReady. A node is added after
// its parent and removed before it. After an outage the difference is told, not
// everything again. A slow loop misses what was true in between and never what is
// true: of what happens to a node while the loop's body runs it is told the sum,
// and TreeChange.Missed says how much that was.
//
// An error is told beside the changes (ErrNoAuth for the node at the top, say),
// and the cache goes on, except after ErrTreeTooLarge; the ends of the context and
// of the cache are not told.
func (t *TreeCache) Changes(ctx context.Context) iter.Seq2[TreeChange, error] {
	return stream(ctx, t.machine.client, t.addReader)
}

// addReader tells a new reader what is known, and from then on what changes.
func (t *TreeCache) addReader(f *feed[TreeChange]) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	select {
	case <-t.machine.commands.ended:
		return ErrClosed
	case <-t.machine.client.closed:
		return ErrClosed
	default:
	}
	f.over, f.merge = t.machine.commands.ended, merge
	f.onClose = append(f.onClose, func() { t.removeReader(f) })
	t.readers[f] = true
	for _, n := range t.all() {
		f.put(TreeChange{Kind: NodeAdded, TreeNode: n}.sight())
	}
	switch {
	case t.end != nil:
		f.put(feedItem[TreeChange]{key: errorKey, err: t.end})
	case !t.stale:
		f.put(TreeChange{Kind: TreeReady}.sight())
	case t.complete():
		f.put(TreeChange{Kind: TreeStale}.sight())
	}
	return nil
}

func (t *TreeCache) removeReader(f *feed[TreeChange]) {
	t.lock.Lock()
	defer t.lock.Unlock()
	delete(t.readers, f)
}

// put tells every reader. It is called under the lock.
func (t *TreeCache) put(c TreeChange) {
	for f := range t.readers {
		f.put(c.sight())
	}
}

// feedItem has one key for each node, and one for what is about the whole.
func (c TreeChange) sight() feedItem[TreeChange] { return feedItem[TreeChange]{key: c.Path, value: c} }

// merge is the sum of two changes of a node, the first of which was not read.
// What is new stays where it waits, before its children; what is gone, or comes
// back, goes to the end, after them.
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
