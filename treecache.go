package incumbent

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
	"github.com/incumbent-go/incumbent/internal/async"
	"github.com/incumbent-go/incumbent/internal/calls"
	"github.com/incumbent-go/incumbent/internal/tree"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio"
)

// TreeCacheOptions are the options of a tree cache. The zero value is good.
type TreeCacheOptions struct {
	// Depth is how many levels below the node are kept: 1 is the node and its
	// children, as Curator's PathChildrenCache has them. Default: all of them.
	Depth int
	// MaxNodes is how many nodes the tree may have, the top one included. If there are
	// more, the cache stops, with ErrTreeTooLarge. Each takes about 500 bytes of memory,
	// 700 without a recursive watch, and its data. Default: 100,000.
	MaxNodes int
	// WithoutData keeps no data in memory: TreeNode.Data is nil. The data are read from
	// the server nevertheless, because that read also sets the watch.
	WithoutData bool
	// Retry sets the pauses between attempts after a failure. Attempts never end: after a
	// policy gives up, there is one every 5 s.
	Retry RetryPolicy
}

func (o TreeCacheOptions) open(recursive bool) map[string]string {
	values := map[string]string{machines.OptionRecursive: strconv.FormatBool(recursive)}
	setRetry(values, o.Retry)
	if o.Depth > 0 {
		values[machines.OptionDepth] = strconv.Itoa(o.Depth)
	}
	if o.MaxNodes > 0 {
		values[machines.OptionMost] = strconv.Itoa(o.MaxNodes)
	}
	return values
}

// TreeNode is one node of a tree cache.
type TreeNode struct {
	Path string
	// Node is as it was when its data were read: the Stat may not count later children. Do not change the data.
	Node
	Err error // why the node, which exists, cannot be read (such as ErrNoAuth); what is below it is not known
}

// TreeCache keeps a node and all that is below it in memory: Curator's TreeCache and CuratorCache, and at a Depth of 1
// its PathChildrenCache.
//
// It is a view of the past. Each node is as it was at some moment, never goes back in time, and is read again when a
// watch fires; nodes are not all of the same moment. While there is no connection the view does not change, and Stale
// reports true. A cache proves nothing: do not use it to decide who leads or holds a lock.
//
// A cache of a whole tree sets one recursive watch, which ZooKeeper has since 3.6. At the start and after every outage
// it costs one read for each node and one listing for each that has children. Then it costs one read for each node
// that is created, changed or deleted: one read also covers several changes that came before it. At most 32 of its
// reads are pending at a time. Since ZooKeeper 3.8.4, servers do not report events of nodes that the client may not
// read: such a node is in the cache, with its Err, if it existed when its parent was listed, and it stays there until
// the parent is listed again.
//
// The cache uses no recursive watch in four cases: with a Depth; if the server does not know recursive watches; while
// the client watches the top node in another way, on a server that may be older than 3.9 (ZOOKEEPER-4466); and with
// Config.Disable.RecursiveWatches. Then each node has two watches on the server. Nodes without children are listed,
// too, unless they are ephemeral, and each node that is created or deleted costs a listing of its parent.
//
// All methods are safe to call from any goroutine, also within the loop over a feed. Those that read the cache never
// wait for the ensemble.
type TreeCache struct {
	machine watchHandle
	data    bool // whether data are kept

	lock    sync.RWMutex
	tree    tree.Tree[TreeNode]
	ready   chan struct{} // closed when all was read once
	stale   bool
	outage  bool  // since all was read last
	end     error // why it has stopped
	readers map[*feed[TreeChange]]bool
}

// TreeCache returns a cache of a node, which need not exist, and what is below it. It does nothing before Start. The
// error says what is wrong with the path or the options, or is ErrClosed.
func (c *Client) TreeCache(path string, options TreeCacheOptions) (*TreeCache, error) {
	if err := cmp.Or(arguments.CheckNode(path), checkOptions(options)); err != nil {
		return nil, err
	}
	t := &TreeCache{data: !options.WithoutData, tree: tree.New[TreeNode](path), ready: make(chan struct{}), stale: true,
		readers: map[*feed[TreeChange]]bool{}}
	t.machine.onNotice, t.machine.onClose = t.onNotice, t.closed
	t.machine.init(c, path)
	_, err := c.register(machines.TreeCacheRecipe, func(id events.ID) receiver {
		t.machine.base.Machine = id
		return &t.machine
	}, events.Event{Path: path, Options: options.open(c.config.recursiveWatches())})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Start begins to read and returns immediately. A second call returns ErrAlreadyStarted, a call after Close returns
// ErrClosed.
func (t *TreeCache) Start() error { return t.machine.base.Start(context.Background(), "start") }

// Close ends the cache and the loops over its feeds. The nodes that were read stay readable. Closing twice, or before
// Start, is no error; if the context ends first, Close returns its error.
func (t *TreeCache) Close(ctx context.Context) error { return t.machine.Close(ctx) }

// WaitReady returns when the whole tree was read once: if the node does not exist, the tree is empty. If the context
// ends first, the error says why not all was read.
//
// Errors: ErrNotStarted, ErrTreeTooLarge, ErrClosed, or the context's.
func (t *TreeCache) WaitReady(ctx context.Context) error {
	t.machine.client.check(ctx)
	if t.State() == Latent {
		return t.machine.base.Explain(ctx, "wait ready", ErrNotStarted)
	}
	var err error
	select {
	case <-t.ready:
	case <-t.machine.base.Commands.Ended():
		err = ErrClosed
	case <-t.machine.client.core.Closed:
		err = ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	t.lock.RLock()
	defer t.lock.RUnlock()
	if t.end != nil || t.complete() {
		return t.end
	}
	return t.machine.base.Explain(ctx, "wait ready", err)
}

// Ready reports whether the whole tree was read once.
func (t *TreeCache) Ready() bool {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.complete()
}

// complete is Ready, called under the lock.
func (t *TreeCache) complete() bool {
	select {
	case <-t.ready:
		return t.end == nil
	default:
		return false
	}
}

// Stale reports whether the cache may have missed something. It reports true until the cache is ready; after the end
// of a connection, or a failure to read, until everything has been read again; and after the cache was closed or found
// too many nodes.
func (t *TreeCache) Stale() bool {
	t.machine.client.opened()
	select {
	case <-t.machine.client.core.Closed:
		return true
	default:
	}
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.stale
}

// Get returns a node as it was read last; false if there is none, as far as is known.
func (t *TreeCache) Get(path string) (TreeNode, bool) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.tree.Get(path)
}

// Children returns the children of a node, in alphabetical order, as they are known when the loop begins.
func (t *TreeCache) Children(path string) iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) {
		t.lock.RLock()
		found := t.tree.Children(path)
		t.lock.RUnlock()
		slices.Values(found)(yield)
	}
}

// All returns all nodes as they are known when the loop begins, each before its children, and these in alphabetical
// order.
func (t *TreeCache) All() iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) {
		t.lock.RLock()
		all := t.tree.All()
		t.lock.RUnlock()
		slices.Values(all)(yield)
	}
}

// onNotice takes the machine's notices; on the loop's goroutine.
func (t *TreeCache) onNotice(n events.Notify) {
	t.machine.base.NoteTrouble(n)
	kept := t.machine.takeKept(n.Work)
	t.lock.Lock()
	defer t.lock.Unlock()
	switch n.What {
	case events.Present:
		t.set(n, kept)
	case events.Absent:
		t.remove(n.Path)
	case events.Settled:
		t.put(TreeChange{Kind: TreeReady, Missed: Missed{Outage: t.outage}})
		t.stale, t.outage = false, false
		t.signalReady()
	case events.Stale:
		t.stale = true
		t.outage = t.outage || n.Code == events.ConnectionLoss
		t.put(TreeChange{Kind: TreeStale})
	case events.Failed:
		t.failed(asError(n.Code, n.Text))
	}
}

// signalReady ends the waits.
func (t *TreeCache) signalReady() {
	select {
	case <-t.ready:
	default:
		close(t.ready)
	}
}

// failed sends an error to the readers. After ErrTreeTooLarge the cache ends.
func (t *TreeCache) failed(err error) {
	for f := range t.readers {
		f.Put(feedItem[TreeChange]{Key: errorKey, Err: err})
	}
	if errors.Is(err, ErrTreeTooLarge) {
		t.end = err
		t.signalReady()
	}
}

// set stores a node as it was read. If nothing but its Stat is new, no change is sent.
func (t *TreeCache) set(n events.Notify, kept zkio.Kept) {
	now := TreeNode{Path: n.Path}
	if n.Code != events.OK {
		now.Err = asError(n.Code, n.Path)
	}
	if kept.Stat != nil {
		now.Stat = Stat(*kept.Stat)
	}
	if t.data {
		now.Data = kept.Data
	}
	change := TreeChange{Kind: NodeChanged, TreeNode: now}
	before, known := t.tree.Get(n.Path)
	if !known {
		change.Kind = NodeAdded
	}
	change.Missed = missedWrites(known && before.Err == nil, now.Err == nil, before.Stat, now.Stat, t.outage)
	t.tree.Set(n.Path, now)
	if !n.Silent {
		t.put(change)
	}
}

// remove removes a node that has no children any longer.
func (t *TreeCache) remove(path string) {
	last, known := t.tree.Get(path)
	if !known {
		return
	}
	t.tree.Remove(path)
	t.put(TreeChange{Kind: NodeRemoved, TreeNode: last, Missed: Missed{Outage: t.outage}})
}

// closed is called on the loop's goroutine.
func (t *TreeCache) closed() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.stale = true
}

// Path returns the path of the top node.
func (t *TreeCache) Path() string { return t.machine.Path() }

// State returns LATENT, STARTED or CLOSED.
func (t *TreeCache) State() State { return t.machine.State() }

// Phase returns the machine's state, finer than State, by its name in docs/statecharts.
func (t *TreeCache) Phase() string { return t.machine.Phase() }

// Err returns the handle's current failure, or why a started handle has no connection (ErrNotConnected); nil if there
// is neither. The handle goes on trying, with pauses between its attempts.
func (t *TreeCache) Err() error { return t.machine.Err() }

// TreeChangeKind is the kind of a TreeChange.
type TreeChangeKind string

// The kinds of change of a tree cache. Ready comes when the whole tree has been read, at first and after every time
// that the cache was stale: all differences came before it. Stale comes when the tree has to be read again.
const (
	NodeAdded   TreeChangeKind = "added"
	NodeChanged TreeChangeKind = "changed" // its data, or whether it can be read; or it is another node, see Missed
	NodeRemoved TreeChangeKind = "removed"
	TreeReady   TreeChangeKind = "ready"
	TreeStale   TreeChangeKind = "stale"
)

// TreeChange is one difference between what a loop got of a tree and what the cache knows now.
type TreeChange struct {
	Kind     TreeChangeKind
	TreeNode        // of the three kinds that are about a node; a removed one as it was last
	Missed   Missed // of the node, since its last change; of TreeReady, that nodes may have come and gone
}

// Changes returns a feed: first the nodes that are known, as added, then TreeReady or TreeStale, and from then on
// every change, until the context ends, the cache is closed or the loop is left. There may be any number of loops. One
// that begins before Start waits for it, and misses nothing: call Start on another goroutine, or before.
//
// The changes are complete by themselves: a program that adds, sets and removes as they say has the cache's own view
// after each TreeReady. A node is added after its parent and removed before it. After an outage the differences come,
// not all nodes again. A slow loop misses changes in between and never the last state: changes of a node while the
// loop's body runs are merged into one, and TreeChange.Missed says how many those were.
//
// An error (ErrNoAuth for the top node, say) is yielded too, and the cache goes on, except after ErrTreeTooLarge; the
// ends of the context and of the cache are not yielded.
func (t *TreeCache) Changes(ctx context.Context) iter.Seq2[TreeChange, error] {
	return stream(ctx, t.machine.client, t.addReader)
}

// addReader sends a new reader what is known; from then on it gets the changes.
func (t *TreeCache) addReader(f *feed[TreeChange]) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	select {
	case <-t.machine.base.Commands.Ended():
		return calls.AsError("changes", t.machine.Path(), ErrClosed)
	case <-t.machine.client.core.Closed:
		return calls.AsError("changes", t.machine.Path(), ErrClosed)
	default:
	}
	f.Ended, f.Merge = t.machine.base.Commands.Ended(), merge
	f.onClose = append(f.onClose, func() { t.removeReader(f) })
	t.readers[f] = true
	for _, n := range t.tree.All() {
		f.Put(TreeChange{Kind: NodeAdded, TreeNode: n}.item())
	}
	switch {
	case t.end != nil:
		f.Put(feedItem[TreeChange]{Key: errorKey, Err: t.end})
	case !t.stale:
		f.Put(TreeChange{Kind: TreeReady}.item())
	case t.complete():
		f.Put(TreeChange{Kind: TreeStale}.item())
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
		f.Put(c.item())
	}
}

// item returns the change as a feed's item: one key for each node, and one for the whole tree.
func (c TreeChange) item() feedItem[TreeChange] { return feedItem[TreeChange]{Key: c.Path, Value: c} }

// merge returns the sum of two changes of a node, the first of which was not read. A new node stays at its place,
// before its children; a removed one, or one that comes back, goes to the end, after them.
func merge(unread, next TreeChange) (TreeChange, async.MergePlace) {
	next.Missed.Outage = next.Missed.Outage || unread.Missed.Outage
	switch {
	case unread.Kind == NodeAdded && next.Kind == NodeRemoved:
		return next, async.Dropped
	case unread.Kind == NodeRemoved && next.Kind == NodeAdded:
		next.Kind, next.Missed.Replaced = NodeChanged, true
	case next.Kind == NodeChanged:
		next.Kind = unread.Kind
		next.Missed.Replaced = next.Missed.Replaced || unread.Missed.Replaced
		next.Missed.Changes += unread.Missed.Changes + 1
		return next, async.InPlace
	}
	return next, async.AtEnd
}
