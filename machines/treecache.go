package machines

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// TreeCacheRecipe makes caches of a node and what is below it: Curator's TreeCache, and its
// PathChildrenCache at a depth of 1. The data go to the user's handle, past the machine. Options:
// "depth" (levels below the node; below zero, all), "most" (the maximum of nodes), "recursive" (a
// recursive watch may be used), "retry". With the option "opener" the cache is another machine's, which
// gets the data, too: TreeNode for a node that was read or is gone, TreeListed for the children that are left,
// TreeRead when nothing is left to read or, with a code, when the cache may be out of date.
var TreeCacheRecipe = &engine.RecipeOf[treeCache]{Named: "treecache", Chart: treeCacheChart, Open: newTreeCache}

// treeWindow is how many reads of one cache are pending at a time, so that a large tree does not delay
// the client's other requests.
const treeWindow = 32

// treeCache reads each node, and lists those that can have children. When a watch fires, it reads the
// node again. The state of each node is data; the chart's states are about all of them together.
//
// One recursive watch, set on each connection before anything is read, reports what happens to all
// nodes. Where there can be none (AddWatch), each read and each listing leaves a watch of its own. A
// cache of some levels always works so: a recursive watch would report all that is below them.
type treeCache struct {
	standalone
	treeWatch
	opener   events.ID // the machine that opened this one; "" if a handle did
	depth    int
	maxNodes int // maximum of nodes
	root     *cachedNode
	size     int    // nodes that are known, read or not yet
	due      []read // to be sent, in order
	inFlight []read
	seen     bool   // the handle was notified of a node, in some session
	told     bool   // the handle was notified that everything is read, on this connection
	gap      bool   // there was no connection for a while since
	recheck  uint64 // the timer of the next questions
	swept    int    // the number, in a walk from the top, of the node that is asked for next
}

func newTreeCache(open events.Event) (*treeCache, error) {
	o := optionsOf(open)
	t := &treeCache{standalone: newStandalone(open, &o), depth: -1, maxNodes: 1, size: 1}
	t.opener = events.ID(o.text(OptionOpener, ""))
	t.depth = o.integer(OptionDepth, t.depth)
	t.maxNodes = max(t.maxNodes, o.integer(OptionMost, 100_000))
	t.wanted = o.flag(OptionRecursive) && t.depth < 0
	t.root = newCachedNode(nil, t.path)
	return t, o.check()
}

// States of a tree cache.
const (
	arming   engine.State = "arming"   // the recursive watch is being set
	overfull engine.State = "overfull" // there are more nodes than the cache may hold
)

var (
	treeStates  = from{arming, reading, watching, absent, suspended, pausing, overfull}
	treeReading = from{reading, watching, pausing}
	changes     = []events.Kind{events.WatchChanged, events.WatchChildren, events.WatchDeleted}
	anyTreeNews = append([]events.Kind{events.WatchReplaced}, anyWatch...)
)

func treeCacheChart() (c engine.Chart[treeCache]) {
	c.Doc = "A node and what is below it. Each node is read once, and again when a watch fires."
	c.States = described([]engine.StateDoc{
		{Name: latent, Doc: "Not started."},
		{Name: arming, Class: events.ClassBusy, Does: "the tree is being read",
			Doc: "A recursive watch on the top is being set. Nothing is read before it is."},
		{Name: reading, Does: "the tree is being read",
			Doc: "Nodes are being read and listed, up to 32 at a time: under the recursive watch, or each with a " +
				"watch of its own."},
		{Name: watching, Doc: "Everything was read and notified; every node is watched. Every 5 s, up to 8 nodes are " +
			"asked for, in turn."},
		{Name: absent, Doc: "The node at the top does not exist; its path is watched, and asked for every 5 s."},
		{Name: suspended, Doc: "There is no connection: the cache may be out of date. On the next one everything is " +
			"read again, and the handle is notified of the differences."},
		{Name: pausing, Doc: "A read failed, and the handle shows it. The remaining reads follow after a back-off " +
			"with jitter."},
		{Name: overfull, Class: events.ClassBlocked, Does: "the tree has too many nodes",
			Doc: "There are more nodes than the cache may hold, and the handle shows that. Nothing is read any " +
				"more."},
		{Name: closed, Doc: "The machine has ended."},
	})
	c.Final = closed
	c.Happy = from{latent, reading, watching, closed}
	c.Kinds = append([]events.Kind{events.CommandStart, events.CommandClose, events.ReplyWatch, events.ReplyStat,
		events.ReplyChildren, events.TreeRead, events.ConnectionAttached, events.ConnectionSuspended,
		events.ConnectionLost, events.TimerFired}, anyTreeNews...)
	c.Rows = treeCacheRows()
	c.Ignores = []engine.Ignore{
		{In: from{latent},
			On: append([]events.Kind{events.TreeRead, events.ConnectionAttached, events.ConnectionSuspended,
				events.ConnectionLost}, anyTreeNews...),
			Why: "nothing was sent before the start"},
		{In: from{arming, watching, absent, suspended, pausing, overfull}, On: []events.Kind{events.TreeRead},
			Why: "only reading ends with it, in the same moment"},
		{In: from{arming, reading, watching, absent, pausing}, On: []events.Kind{events.ConnectionAttached},
			Why: "a connection ends, through suspended, before the next begins"},
		{In: from{arming}, On: anyWatch, Why: "everything is read once the watch is set"},
		{In: from{suspended}, On: []events.Kind{events.ConnectionSuspended}, Why: "there is no connection to lose"},
		{In: from{suspended}, On: anyTreeNews, Why: "everything is read again"},
		{In: from{absent}, On: changes, Why: "only the node's creation matters"},
		{In: from{overfull},
			On: append([]events.Kind{events.ConnectionAttached, events.ConnectionSuspended, events.ConnectionLost},
				anyTreeNews...),
			Why: "nothing is read any more"},
	}
	return c
}

func treeCacheRows() []engine.Row[treeCache] {
	rows := []engine.Row[treeCache]{
		{From: from{latent}, On: on(events.CommandStart), When: (*treeCache).needsWatch,
			To: arming, Do: (*treeCache).accept, Then: (*treeCache).setWatch},
		{From: from{latent}, On: on(events.CommandStart), When: (*treeCache).attached,
			To: reading, Do: (*treeCache).accept, Then: (*treeCache).readTop},
		{From: from{latent}, On: on(events.CommandStart), To: suspended, Do: (*treeCache).accept},
		{From: treeStates, On: on(events.CommandStart), To: engine.Stay, Do: (*treeCache).refuseStart},
	}
	rows = append(rows, lookRows(events.ReplyStat)...)
	rows = append(rows, engine.Row[treeCache]{From: from{reading}, On: on(events.ReplyStat),
		To: reading, Do: (*treeCache).noteData, Then: (*treeCache).proceed})
	rows = append(rows, lookRows(events.ReplyChildren)...)
	rows = append(rows, treeWatchRows()...)
	rows = append(rows, sweepRows()...)
	return append(rows, []engine.Row[treeCache]{
		{From: from{reading}, On: on(events.ReplyChildren), When: (*treeCache).overflows,
			To: overfull, Do: (*treeCache).giveUp},
		{From: from{reading}, On: on(events.ReplyChildren),
			To: reading, Do: (*treeCache).noteListing, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(events.TreeRead),
			To: watching, Do: (*treeCache).settle, Then: (*treeCache).sweepLater},

		{From: from{reading, watching}, On: on(events.WatchChanged, events.WatchChildren, events.WatchDeleted),
			To: reading, Do: (*treeCache).noteWatch, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.WatchChanged, events.WatchChildren, events.WatchDeleted),
			To: pausing, Do: (*treeCache).noteWatch},

		{From: from{absent}, On: on(events.ReplyStat), When: (*treeCache).noNode,
			To: absent, Do: (*treeCache).settle, Then: (*treeCache).sweepLater},
		{From: from{absent}, On: on(events.ReplyStat), When: (*treeCache).refused,
			To: pausing, Do: (*treeCache).failAndBackOff, Then: (*treeCache).keepDue},
		{From: from{absent}, On: on(events.ReplyStat, events.WatchCreated), To: reading, Do: (*treeCache).readTop},

		{From: from{arming, reading, watching, absent, pausing}, On: on(events.ConnectionSuspended),
			To: suspended, Do: (*treeCache).noteGap},
		{From: from{arming, reading, watching, absent, suspended, pausing}, On: on(events.ConnectionLost),
			To: suspended, Do: (*treeCache).noteGap},
		{From: from{suspended}, On: on(events.ConnectionAttached), When: (*treeCache).needsWatch,
			To: arming, Do: (*treeCache).setWatch},
		{From: from{suspended}, On: on(events.ConnectionAttached),
			To: reading, Do: (*treeCache).renew, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.TimerFired), When: (*treeCache).needsWatch,
			To: arming, Do: (*treeCache).setWatch},
		{From: from{pausing}, On: on(events.TimerFired), To: reading, Do: (*treeCache).proceed},
		{From: append(from{latent}, treeStates...), On: on(events.CommandClose), To: closed, Do: (*treeCache).finish},
	}...)
}

// lookRows are the rows for answers of both kinds without data: a listing and a read may both say that
// the node is gone, or may fail.
func lookRows(reply events.Kind) []engine.Row[treeCache] {
	return []engine.Row[treeCache]{
		{From: from{reading}, On: on(reply), When: (*treeCache).nodeDropped,
			To: reading, Do: (*treeCache).discard, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(reply), When: (*treeCache).reportedMeanwhile,
			To: reading, Do: (*treeCache).discard, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(reply), When: (*treeCache).topGoneUnderWatch,
			To: absent, Do: (*treeCache).clearUnderWatch, Then: (*treeCache).settle},
		{From: from{reading}, On: on(reply), When: (*treeCache).topGone,
			To: absent, Do: (*treeCache).clear, Then: (*treeCache).watchPath},
		{From: from{reading}, On: on(reply), When: (*treeCache).blocksAll,
			To: pausing, Do: (*treeCache).failAndBackOff, Then: (*treeCache).keepDue},
		{From: from{reading}, On: on(reply), When: (*treeCache).noNode,
			To: reading, Do: (*treeCache).drop, Then: (*treeCache).proceed},
		{From: from{reading}, On: on(reply), When: (*treeCache).refused,
			To: reading, Do: (*treeCache).tellUnreadable, Then: (*treeCache).proceed},
	}
}

// Watches reports which nodes matter: those that are known, and all below the top under a recursive
// watch.
func (t *treeCache) Watches(path string) bool {
	return t.find(path) != nil || t.set && strings.HasPrefix(path, join(t.path, ""))
}

// nodeDropped reports whether an answer is about a node that has left the cache meanwhile.
func (t *treeCache) nodeDropped(ev events.Event) bool {
	b := t.about(ev)
	return b == nil || b.dead
}

// topGone reports whether the node at the top is gone.
func (t *treeCache) topGone(ev events.Event) bool { return t.noNode(ev) && t.about(ev) == t.root }

// blocksAll reports whether a failure delays all reads: a transient one, or one of the node at the
// top. Any other node that cannot be read is noted as such, and the rest goes on.
func (t *treeCache) blocksAll(ev events.Event) bool {
	return t.transient(ev) || t.refused(ev) && !t.noNode(ev) && t.about(ev) == t.root
}

// overflows reports whether a listing would make more nodes known than the maximum.
func (t *treeCache) overflows(ev events.Event) bool {
	size := t.size - t.gone
	for kid, name := range t.about(ev).pairChildren(ev.Children) {
		switch {
		case kid == nil:
			size++
		case name == "":
			size -= kid.count()
		case kid.gone: // there is another one
			size++
		}
	}
	return size > t.maxNodes
}
