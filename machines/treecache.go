package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// TreeCacheRecipe makes caches of a node and what is below it: Curator's
// TreeCache, and its PathChildrenCache at a depth of 1. The user is told the data
// past the machine. Options: "depth" (levels below the node; below zero, all),
// "most" (nodes), "retry".
var TreeCacheRecipe = engine.NewRecipe(treeCacheChart, newTreeCache)

// treeWindow is how many reads of one cache are under way at a time: those of a
// large tree must not keep what else the client asks for waiting.
const treeWindow = 32

// treeCache reads each node, and lists those that can have children, with a watch
// each; what a watch tells of is read again. The nodes' states are data; the
// chart's are about the whole.
type treeCache struct {
	standalone
	depth    int
	maxNodes int // nodes
	root     *cachedNode
	size     int     // nodes that are known, read or not yet
	due      []*look // to be sent, in order
	inFlight []*look
	seen     bool // something was told, in some session
	told     bool // that all is read, on this connection
	gap      bool // there was no connection for a while since that was told
}

func newTreeCache(open events.Event) (*treeCache, error) {
	o := options{values: open.Options}
	t := &treeCache{standalone: newStandalone(open, &o), depth: -1, maxNodes: 1, size: 1}
	if _, ok := open.Options["depth"]; ok {
		t.depth = o.integer("depth", t.depth)
	}
	t.maxNodes = max(t.maxNodes, o.integer("most", 100_000))
	t.root = newCachedNode(nil, t.path)
	return t, o.err
}

// overfull is a tree of more nodes than the cache may hold.
const overfull engine.State = "overfull"

var (
	treeStates  = from{reading, watching, absent, suspended, pausing, overfull}
	treeReading = from{reading, watching, pausing}
	changes     = []events.Kind{events.WatchChanged, events.WatchChildren, events.WatchDeleted}
)

var treeCacheChart = engine.MustCompile(engine.Chart[treeCache]{
	Name: "treecache",
	Doc:  "A node and what is below it, read once and then again wherever a watch says so.",
	States: []engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: reading, Doc: "Nodes are being read and listed, each with a watch, so many at a time."},
		{Name: watching, Doc: "All that was to be read has been, and was told; every node is watched."},
		{Name: absent, Doc: "The node at the top does not exist; its path is watched."},
		{Name: suspended, Doc: "No connection: what was told may be out of date. After the next one all is read again, and the difference told."},
		{Name: pausing, Doc: "A read failed, visibly. What is left to read waits for a back-off with jitter."},
		{Name: overfull, Doc: "There are more nodes than the cache may hold, which was told. Nothing is read any more."},
		{Name: closed, Doc: "Over."},
	},
	Final: closed,
	Happy: from{latent, reading, watching, closed},
	Kinds: append([]events.Kind{events.CommandStart, events.CommandClose, events.ReplyStat, events.ReplyChildren, events.TreeRead,
		events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost, events.TimerFired}, anyWatch...),
	Rows: treeCacheRows(),
	Ignores: []engine.Ignore{
		{In: from{latent}, On: append([]events.Kind{events.TreeRead, events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost}, anyWatch...),
			Why: "nothing was asked before the start"},
		{In: from{watching, absent, suspended, pausing, overfull}, On: []events.Kind{events.TreeRead}, Why: "only reading ends so, in the same moment"},
		{In: from{reading, watching, absent, pausing}, On: []events.Kind{events.ConnectionAttached}, Why: "a connection ends, through suspended, before the next begins"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{suspended}, On: anyWatch, Why: "all is read again"},
		{In: treeReading, On: []events.Kind{events.WatchCreated}, Why: "another machine of the same client waits for that"},
		{In: from{absent}, On: changes, Why: "only the node's creation matters"},
		{In: from{overfull}, On: append([]events.Kind{events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost}, anyWatch...),
			Why: "nothing is read any more"},
	},
})

func treeCacheRows() []engine.Row[treeCache] {
	rows := []engine.Row[treeCache]{
		{From: from{latent}, On: on(events.CommandStart), When: (*treeCache).attached, To: reading, Do: (*treeCache).accept, Then: (*treeCache).readTop},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*treeCache).accept},
		{From: treeStates, On: on(events.CommandStart), To: engine.Stay, Do: (*treeCache).refuseStart},
	}
	rows = append(rows, lookRows(events.ReplyStat)...)
	rows = append(rows, engine.Row[treeCache]{From: from{reading}, On: on(events.ReplyStat), To: reading, Do: (*treeCache).noteData, Then: (*treeCache).proceed})
	rows = append(rows, lookRows(events.ReplyChildren)...)
	return append(rows, []engine.Row[treeCache]{
		{From: from{reading}, On: on(events.ReplyChildren), When: (*treeCache).overflows, To: overfull, Do: (*treeCache).giveUp},
		{From: from{reading}, On: on(events.ReplyChildren), To: reading, Do: (*treeCache).noteListing, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(events.TreeRead), To: watching, Do: (*treeCache).settle},

		{From: from{reading, watching}, On: on(events.WatchChanged, events.WatchChildren, events.WatchDeleted), To: reading, Do: (*treeCache).noteWatch, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.WatchChanged, events.WatchChildren, events.WatchDeleted), To: pausing, Do: (*treeCache).noteWatch},

		{From: from{absent}, On: on(events.ReplyStat), When: (*treeCache).noNode, To: absent, Do: (*treeCache).settle},
		{From: from{absent}, On: on(events.ReplyStat), When: (*treeCache).refused, To: pausing, Do: (*treeCache).failAndBackOff, Then: (*treeCache).keepDue},
		{From: from{absent}, On: on(events.ReplyStat, events.WatchCreated), To: reading, Do: (*treeCache).readTop},

		{From: from{reading, watching, absent, pausing}, On: on(events.ConnectionSuspended), To: suspended, Do: (*treeCache).noteGap},
		{From: from{reading, watching, absent, suspended, pausing}, On: on(events.ConnectionLost), To: suspended, Do: (*treeCache).noteGap},
		{From: from{suspended}, On: on(events.ConnectionAttached), To: reading, Do: (*treeCache).renew, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*treeCache).proceed},
		{From: append(from{latent}, treeStates...), On: on(events.CommandClose), To: closed, Do: (*treeCache).finish},
	}...)
}

// lookRows are the answers that are no news of a node's: a listing and a read of
// its data may both say that it is gone, or may fail.
func lookRows(reply events.Kind) []engine.Row[treeCache] {
	return []engine.Row[treeCache]{
		{From: from{reading}, On: on(reply), When: (*treeCache).nodeDropped, To: reading, Do: (*treeCache).discard, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(reply), When: (*treeCache).topGone, To: absent, Do: (*treeCache).clear, Then: (*treeCache).watchPath},
		{From: from{reading}, On: on(reply), When: (*treeCache).blocksAll, To: pausing, Do: (*treeCache).failAndBackOff, Then: (*treeCache).keepDue},
		{From: from{reading}, On: on(reply), When: (*treeCache).noNode, To: reading, Do: (*treeCache).drop, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(reply), When: (*treeCache).refused, To: reading, Do: (*treeCache).tellUnreadable, Then: (*treeCache).proceed},
	}
}

// Watches says which nodes matter: those that are known.
func (t *treeCache) Watches(path string) bool { return t.find(path) != nil }

// nodeDropped is an answer about a node that has left the cache meanwhile.
func (t *treeCache) nodeDropped(ev events.Event) bool {
	b := t.about(ev)
	return b == nil || b.dead
}

// topGone is the node at the top, gone.
func (t *treeCache) topGone(ev events.Event) bool { return t.noNode(ev) && t.about(ev) == t.root }

// blocksAll is a failure that keeps everything waiting: one that may be over by
// itself, or that the node at the top cannot be read. Any other node that cannot
// be read is known as such, and the rest goes on.
func (t *treeCache) blocksAll(ev events.Event) bool {
	return t.transient(ev) || t.refused(ev) && !t.noNode(ev) && t.about(ev) == t.root
}

// overflows is a listing that makes more nodes known than there may be.
func (t *treeCache) overflows(ev events.Event) bool {
	size := t.size
	for kid, name := range t.about(ev).pairChildren(ev.Children) {
		switch {
		case kid == nil:
			size++
		case name == "":
			size -= kid.count()
		}
	}
	return size > t.maxNodes
}
