package incumbent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/arguments"
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
	values := map[string]string{"recursive": strconv.FormatBool(recursive)}
	setRetry(values, o.Retry)
	if o.Depth > 0 {
		values["depth"] = strconv.Itoa(o.Depth)
	}
	if o.MaxNodes > 0 {
		values["most"] = strconv.Itoa(o.MaxNodes)
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

// TreeCache keeps a node and all that is below it in memory: Curator's TreeCache and
// CuratorCache, and at a Depth of 1 its PathChildrenCache.
//
// It is a view of the past. Each node is as it was at some moment, never goes back in time,
// and is read again when a watch fires; nodes are not all of the same moment. While there
// is no connection the view does not change, and Stale reports true. A cache proves
// nothing: do not use it to decide who leads or holds a lock.
//
// A cache of a whole tree sets one recursive watch, which ZooKeeper has since 3.6. At the
// start and after every outage it costs one read for each node and one listing for each that
// has children. Then it costs one read for each node that is created, changed or deleted: one
// read also covers several changes that came before it. At most 32 of its reads are pending at a time. Since
// ZooKeeper 3.8.4, servers do not report events of nodes that the client may not read: such a
// node is in the cache, with its Err, if it existed when its parent was listed, and it stays
// there until the parent is listed again.
//
// The cache uses no recursive watch in four cases: with a Depth; if the server does not know
// recursive watches; while the client watches the top node in another way, on a server that
// may be older than 3.9 (ZOOKEEPER-4466); and with Config.Disable.RecursiveWatches. Then each
// node has two watches on the server. Nodes without children are listed, too, unless they are
// ephemeral, and each node that is created or deleted costs a listing of its parent.
//
// All methods are safe to call from any goroutine, also within the loop over a feed. Those
// that read the cache never wait for the ensemble.
type TreeCache struct {
	machine watchHandle
	data    bool // whether data are kept

	lock    sync.RWMutex
	tree    map[string]*cachedNode
	ready   chan struct{} // closed when all was read once
	stale   bool
	outage  bool  // since all was read last
	end     error // why it has stopped
	readers map[*feed[TreeChange]]bool
}

// cachedNode is a node with the names of its children.
type cachedNode struct {
	TreeNode
	childNames []string // in order
}

// TreeCache returns a cache of a node, which need not exist, and what is below it. It does
// nothing before Start. The error says what is wrong with the path or the options, or is
// ErrClosed.
func (c *Client) TreeCache(path string, options TreeCacheOptions) (*TreeCache, error) {
	if err := arguments.CheckNode(path); err != nil {
		return nil, err
	}
	if err := checkOptions(options); err != nil {
		return nil, err
	}
	t := &TreeCache{data: !options.WithoutData, tree: map[string]*cachedNode{}, ready: make(chan struct{}), stale: true, readers: map[*feed[TreeChange]]bool{}}
	t.machine.onNotice, t.machine.onClose = t.onNotice, t.closed
	t.machine.init(c, path)
	_, err := c.register(machines.TreeCacheRecipe.Name(), func(id events.ID) receiver {
		t.machine.id = id
		return &t.machine
	}, events.Event{Path: path, Options: options.open(c.config.recursiveWatches())})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Start begins to read and returns immediately. A second call returns ErrAlreadyStarted, a
// call after Close returns ErrClosed.
func (t *TreeCache) Start() error { return t.machine.start(context.Background(), "start") }

// Close ends the cache and the loops over its feeds. The nodes that were read stay readable.
// Closing twice, or before Start, is no error; if the context ends first, Close returns its
// error.
func (t *TreeCache) Close(ctx context.Context) error { return t.machine.Close(ctx) }

// WaitReady returns when the whole tree was read once: if the node does not exist, the tree
// is empty. If the context ends first, the error says why not all was read.
//
// Errors: ErrNotStarted, ErrTreeTooLarge, ErrClosed, or the context's.
func (t *TreeCache) WaitReady(ctx context.Context) error {
	t.machine.client.check(ctx)
	if t.State() == Latent {
		return t.machine.explain(ctx, "wait ready", ErrNotStarted)
	}
	var err error
	select {
	case <-t.ready:
	case <-t.machine.commands.Ended:
		err = ErrClosed
	case <-t.machine.client.closed:
		err = ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	t.lock.RLock()
	defer t.lock.RUnlock()
	if t.end != nil || t.complete() {
		return t.end
	}
	return t.machine.explain(ctx, "wait ready", err)
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

// Stale reports whether the cache may have missed something. It reports true until the cache
// is ready; after the end of a connection, or a failure to read, until everything has been
// read again; and after the cache was closed or found too many nodes.
func (t *TreeCache) Stale() bool {
	t.machine.client.opened()
	select {
	case <-t.machine.client.closed:
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
	l := t.tree[path]
	if l == nil {
		return TreeNode{}, false
	}
	return l.TreeNode, true
}

// Children returns the children of a node, in alphabetical order, as they are known when
// the loop begins.
func (t *TreeCache) Children(path string) iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) {
		t.lock.RLock()
		var found []TreeNode
		if l := t.tree[path]; l != nil {
			for _, name := range l.childNames {
				found = append(found, t.tree[below(path, name)].TreeNode)
			}
		}
		t.lock.RUnlock()
		slices.Values(found)(yield)
	}
}

// All returns all nodes as they are known when the loop begins, each before its children,
// and these in alphabetical order.
func (t *TreeCache) All() iter.Seq[TreeNode] {
	return func(yield func(TreeNode) bool) {
		t.lock.RLock()
		all := t.all()
		t.lock.RUnlock()
		slices.Values(all)(yield)
	}
}

// all is called under the lock.
func (t *TreeCache) all() []TreeNode {
	nodes := make([]TreeNode, 0, len(t.tree))
	var add func(path string)
	add = func(path string) {
		l := t.tree[path]
		if l == nil {
			return
		}
		nodes = append(nodes, l.TreeNode)
		for _, name := range l.childNames {
			add(below(path, name))
		}
	}
	add(t.machine.path)
	return nodes
}

// below returns the path of a child.
func below(path, name string) string { return strings.TrimSuffix(path, "/") + "/" + name }

// onNotice takes the machine's notices; on the loop's goroutine.
func (t *TreeCache) onNotice(n events.Notify) {
	t.machine.noteTrouble(n)
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
		f.put(feedItem[TreeChange]{key: errorKey, err: err})
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
	l := t.tree[n.Path]
	if l == nil {
		l = &cachedNode{}
		t.tree[n.Path] = l
		change.Kind = NodeAdded
		t.list(n.Path, true)
	}
	change.Missed = missedWrites(change.Kind == NodeChanged && l.Err == nil, now.Err == nil, l.Stat, now.Stat, t.outage)
	l.TreeNode = now
	if !n.Silent {
		t.put(change)
	}
}

// remove removes a node that has no children any longer.
func (t *TreeCache) remove(path string) {
	l := t.tree[path]
	if l == nil {
		return
	}
	delete(t.tree, path)
	t.list(path, false)
	t.put(TreeChange{Kind: NodeRemoved, TreeNode: l.TreeNode, Missed: Missed{Outage: t.outage}})
}

// list adds a node to its parent's children, or removes it.
func (t *TreeCache) list(path string, in bool) {
	slash := strings.LastIndexByte(path, '/')
	parent := t.tree[path[:max(slash, 1)]]
	if path == t.machine.path || parent == nil {
		return
	}
	i, known := slices.BinarySearch(parent.childNames, path[slash+1:])
	switch {
	case in && !known:
		parent.childNames = slices.Insert(parent.childNames, i, path[slash+1:])
	case !in && known:
		parent.childNames = slices.Delete(parent.childNames, i, i+1)
	}
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

// Err returns the handle's current failure, or why a started handle has no connection
// (ErrNotConnected); nil if there is neither. The handle goes on trying, with pauses between
// its attempts.
func (t *TreeCache) Err() error { return t.machine.Err() }
