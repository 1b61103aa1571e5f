package incumbent

import (
	"container/list"
	"context"
	"iter"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
)

// feed passes what is seen to one reader. Of each key it keeps only the newest value: a
// slow reader misses values in between, but always gets the last.
type feed[T any] struct {
	client  *Client
	ended   <-chan struct{} // closed when nothing more comes; nil if only the end of the client counts
	onClose []func()        // called when the loop over the feed ends

	// merge returns one value for two of one key, the first of which was not read, and the
	// place of the result. If merge is nil, the second replaces the first, at the end.
	merge func(unread, next T) (T, mergePlace)

	mu      sync.Mutex
	pending list.List // of feedItems, one for each key
	byKey   map[string]*list.Element
	wake    chan struct{}
}

type feedItem[T any] struct {
	key   string
	value T
	err   error
}

// mergePlace is the place of the merged value of two.
type mergePlace int

const (
	atEnd   mergePlace = iota // after all that waits
	inPlace                   // at the place of the first
	dropped                   // there is nothing to pass
)

// errorKey is the key of errors.
const errorKey = "error"

func newFeed[T any](c *Client) *feed[T] {
	return &feed[T]{client: c, byKey: map[string]*list.Element{}, wake: make(chan struct{}, 1)}
}

// stream returns a feed as an iterator. When a loop over it begins, look opens the machines
// for it. They are closed when the loop ends, or immediately if look fails.
func stream[T any](ctx context.Context, c *Client, look func(*feed[T]) error) iter.Seq2[T, error] {
	c.check(ctx)
	return func(yield func(T, error) bool) {
		f := newFeed[T](c)
		defer f.close()
		if err := look(f); err != nil {
			var none T
			yield(none, err)
			return
		}
		for {
			s, ok := f.next(ctx)
			if !ok || !yield(s.value, s.err) {
				return
			}
		}
	}
}

// watch opens a machine that watches, and starts it, without waiting for it. The machine's
// notices go to tell, on the loop's goroutine. The error is ErrClosed.
func (f *feed[T]) watch(recipe string, open events.Event, tell func(events.Notify, zkio.Kept)) error {
	o := &watchHandle{}
	return f.open(o, recipe, open, func(n events.Notify) {
		if n.What == events.Failed {
			f.fail(n)
			return
		}
		tell(n, o.takeKept(n.Work))
	})
}

// fail puts a machine's failure, which the loop gets as an error.
func (f *feed[T]) fail(n events.Notify) {
	f.put(feedItem[T]{key: errorKey, err: asError(n.Code, n.Text)})
}

// open is watch with a handle. All notices go to notice, failures included.
func (f *feed[T]) open(o *watchHandle, recipe string, open events.Event, notice func(events.Notify)) error {
	o.onNotice = notice
	o.init(f.client, open.Path)
	_, err := f.client.register(recipe, func(id events.ID) receiver {
		o.id = id
		return o
	}, open)
	if err != nil {
		return asCallError("watch", open.Path, err)
	}
	f.onClose = append(f.onClose, func() { f.client.post(o.id, events.Event{Kind: events.CommandClose}) })
	f.client.post(o.id, events.Event{Kind: events.CommandStart})
	return nil
}

func (f *feed[T]) close() {
	for _, leave := range f.onClose {
		leave()
	}
}

// next waits for the next item; it returns false when the context or the client has ended.
func (f *feed[T]) next(ctx context.Context) (feedItem[T], bool) {
	for {
		f.mu.Lock()
		if first := f.pending.Front(); first != nil {
			s := f.pending.Remove(first).(feedItem[T])
			delete(f.byKey, s.key)
			f.mu.Unlock()
			return s, true
		}
		f.mu.Unlock()
		select {
		case <-f.wake:
		case <-f.ended:
			return feedItem[T]{}, false
		case <-f.client.closed:
			return feedItem[T]{}, false
		case <-ctx.Done():
			return feedItem[T]{}, false
		}
	}
}

// put never blocks, so that the loop can use it.
func (f *feed[T]) put(s feedItem[T]) {
	f.mu.Lock()
	f.add(s)
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed[T]) add(s feedItem[T]) {
	to := atEnd
	if unread := f.byKey[s.key]; unread != nil {
		if f.merge != nil {
			s.value, to = f.merge(unread.Value.(feedItem[T]).value, s.value)
		}
		if to == inPlace {
			unread.Value = s
			return
		}
		f.pending.Remove(unread)
		delete(f.byKey, s.key)
	}
	if to == atEnd {
		f.byKey[s.key] = f.pending.PushBack(s)
	}
	f.client.invariants.Feeds(len(f.byKey), f.pending.Len(), s.key)
}

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
	case <-t.machine.commands.Ended:
		return asCallError("changes", t.machine.path, ErrClosed)
	case <-t.machine.client.closed:
		return asCallError("changes", t.machine.path, ErrClosed)
	default:
	}
	f.ended, f.merge = t.machine.commands.Ended, merge
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
