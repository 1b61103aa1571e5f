package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// treeWatch is what a tree cache knows of its recursive watch on the present connection.
type treeWatch struct {
	wanted      bool // the option: there may be one
	set         bool // a server has accepted it
	refusedHere bool // there is none on this connection, so every read sets a watch
	refusals    int  // known nodes that cannot be read: no watch reports that they can
	gone        int  // known nodes whose deletion was reported, and that were not read since
}

// treeWatchRows are the rows for a recursive watch. They stand in front of those for the watches of single
// nodes.
func treeWatchRows() []engine.Row[treeCache] {
	return []engine.Row[treeCache]{
		{From: from{arming}, On: on(events.ReplyWatch), When: (*treeCache).transient,
			To: pausing, Do: (*treeCache).failAndBackOff, Then: (*treeCache).keepDue},
		{From: from{arming}, On: on(events.ReplyWatch), When: (*treeCache).refused,
			To: reading, Do: (*treeCache).doWithout, Then: (*treeCache).readAll},
		{From: from{arming}, On: on(events.ReplyWatch),
			To: reading, Do: (*treeCache).noteSet, Then: (*treeCache).readAll},
		{From: from{arming}, On: on(events.WatchReplaced),
			To: reading, Do: (*treeCache).doWithout, Then: (*treeCache).readAll},
		{From: from{reading, watching}, On: on(events.WatchReplaced),
			To: reading, Do: (*treeCache).doWithout, Then: (*treeCache).readAll},
		{From: from{pausing}, On: on(events.WatchReplaced),
			To: pausing, Do: (*treeCache).doWithout, Then: (*treeCache).scheduleAll},
		{From: from{absent}, On: on(events.WatchReplaced),
			To: absent, Do: (*treeCache).doWithout, Then: (*treeCache).watchPath},

		{From: treeReading, On: on(events.WatchCreated, events.WatchChanged), When: (*treeCache).newNodeOverflows,
			To: overfull, Do: (*treeCache).giveUp},
		{From: from{reading, watching}, On: on(events.WatchCreated, events.WatchChanged), When: (*treeCache).underWatch,
			To: reading, Do: (*treeCache).noteExists, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.WatchCreated, events.WatchChanged), When: (*treeCache).underWatch,
			To: pausing, Do: (*treeCache).noteExists},
		{From: treeReading, On: on(events.WatchCreated), To: engine.Stay}, // watched by another machine of the client
		{From: from{reading, watching}, On: on(events.WatchDeleted), When: (*treeCache).underWatch,
			To: reading, Do: (*treeCache).noteDeleted, Then: (*treeCache).proceed},
		{From: from{pausing}, On: on(events.WatchDeleted), When: (*treeCache).underWatch,
			To: pausing, Do: (*treeCache).noteDeleted},
	}
}

// needsWatch reports whether a recursive watch has to be set, and can be.
func (t *treeCache) needsWatch(ev events.Event) bool {
	return ev.Attached && t.wanted && !t.set && !t.refusedHere
}

// underWatch reports whether a recursive watch reports what happens to all nodes.
func (t *treeCache) underWatch(events.Event) bool { return t.set }

// reportedMeanwhile reports whether a node is gone of which a recursive watch has reported something since
// it was asked for: another read of it will decide.
func (t *treeCache) reportedMeanwhile(ev events.Event) bool {
	b := t.about(ev)
	another := b.self.request != 0 && b.self.request != ev.Request
	return t.set && t.noNode(ev) && (another || b.self.due || b.below.due)
}

// topGoneUnderWatch reports whether the node at the top is gone, and a recursive watch will report its
// creation.
func (t *treeCache) topGoneUnderWatch(ev events.Event) bool { return t.set && t.topGone(ev) }

// newNodeOverflows reports whether a recursive watch reports a node that is one too many. Those that were
// reported as gone do not count.
func (t *treeCache) newNodeOverflows(ev events.Event) bool {
	if !t.set || t.size-t.gone < t.maxNodes {
		return false
	}
	b, name := t.nearest(ev.Path)
	return name == "" && b.gone || name != "" && b.listed
}

// setGone notes that a node was reported as deleted, or that it exists or leaves the cache.
func (t *treeCache) setGone(b *cachedNode, gone bool) {
	switch {
	case gone && !b.gone:
		t.gone++
	case !gone && b.gone:
		t.gone--
	}
	b.gone = gone
}

// setWatch sets the recursive watch. A server that is behind what was seen before is brought up to date
// first: what it catches up with is not reported.
func (t *treeCache) setWatch(ev events.Event, out *engine.Outbox) {
	t.catchUp(out)
	out.AddWatch(t.path)
}

// noteSet notes that the recursive watch is set.
func (t *treeCache) noteSet(events.Event, *engine.Outbox) { t.set = true }

// doWithout goes on without a recursive watch until the connection ends. If there was one, it may not
// have reported everything.
func (t *treeCache) doWithout(ev events.Event, out *engine.Outbox) {
	t.set, t.refusedHere = false, true
	t.tellStale(ev.Code, out)
}

// readAll reads all known nodes again.
func (t *treeCache) readAll(ev events.Event, out *engine.Outbox) {
	t.scheduleAll(ev, out)
	t.proceed(ev, out)
}

// scheduleAll schedules reads of all known nodes.
func (t *treeCache) scheduleAll(events.Event, *engine.Outbox) { t.rereadBelow(t.root) }

// noteExists handles the report that a node was created or written. A node that is new is added below the
// nearest known one, if the children of that are known; else they are still to be listed. Servers answer and
// report in the order of the changes. What is being read is read again nevertheless, so that nothing depends
// on it.
func (t *treeCache) noteExists(ev events.Event, out *engine.Outbox) {
	b, name := t.nearest(ev.Path)
	if name == "" {
		t.setGone(b, false)
		t.schedule(read{of: b})
		return
	}
	if b.below.request != 0 {
		t.schedule(read{of: b, listing: true})
	}
	if b.self.request != 0 {
		t.schedule(read{of: b})
	}
	if b.listed {
		t.retryRefused(b)
		t.schedule(read{of: t.addChild(b, name)})
	}
}

// addChild adds a node that was not known.
func (t *treeCache) addChild(b *cachedNode, name string) *cachedNode {
	kid := newCachedNode(b, join(b.path, name))
	i, _ := b.findChild(name)
	b.children = slices.Insert(b.children, i, kid)
	t.size++
	return kid
}

// noteDeleted handles the report that a node was deleted. It is read: if the same transaction has created
// another one, there was no moment without a node.
func (t *treeCache) noteDeleted(ev events.Event, out *engine.Outbox) {
	b := t.find(ev.Path)
	if b == nil {
		return
	}
	t.setGone(b, true)
	t.schedule(read{of: b})
	if b.parent != nil {
		t.retryRefused(b.parent)
	}
}

// retryRefused schedules reads of the children that could not be read before, as a listing does: no watch
// reports a change of rights.
func (t *treeCache) retryRefused(b *cachedNode) {
	for _, kid := range b.children {
		if t.refusals > 0 && kid.refused != events.OK {
			t.schedule(read{of: kid})
		}
	}
}

// countRefusal counts the nodes that cannot be read.
func (t *treeCache) countRefusal(b *cachedNode, by int) {
	if b.refused != events.OK {
		t.refusals += by
	}
}
