package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A tree cache that waits asks for its nodes in turn, a few at a time: no watch reports what happens to a node
// while it may not be read, and a recursive watch says nothing of one that is deleted then.

// sweepRows are the rows for that.
func sweepRows() []engine.Row[treeCache] {
	return []engine.Row[treeCache]{
		{From: from{watching}, On: on(events.TimerFired),
			To: watching, Do: (*treeCache).sweep, Then: (*treeCache).sweepLater},
		{From: from{watching}, On: on(events.ReplyStat), When: (*treeCache).unchanged, To: watching},
		{From: from{watching}, On: on(events.ReplyStat),
			To: reading, Do: (*treeCache).readSwept, Then: (*treeCache).proceed},
		{From: from{absent}, On: on(events.TimerFired), To: absent, Do: (*treeCache).askTop},
	}
}

// sweepLater starts the timer of the next questions.
func (t *treeCache) sweepLater(ev events.Event, out *engine.Outbox) {
	out.StopTimer(t.recheck)
	t.recheck = recheckLater(out)
}

// askTop asks whether the node at the top exists by now. A watch of its own would take the place of a recursive one.
func (t *treeCache) askTop(ev events.Event, out *engine.Outbox) {
	if t.set {
		out.Exists(t.path)
		return
	}
	t.watchPath(ev, out)
}

// sweepWindow is for how many nodes a tree cache asks at a time: few, as an idle client is to cost its servers little.
const sweepWindow = 8

// sweep asks for the next nodes, at most sweepWindow, in the order of a walk from the top.
func (t *treeCache) sweep(ev events.Event, out *engine.Outbox) {
	at := 0
	for _, b := range t.root.from(t.swept, &at, nil) {
		out.Exists(b.path)
	}
	if t.swept += sweepWindow; t.swept >= t.size {
		t.swept = 0
	}
}

// from appends the next sweepWindow nodes, from this one down, whose number in the walk is skip or higher. The number
// of
// the present one is at.
func (b *cachedNode) from(skip int, at *int, found []*cachedNode) []*cachedNode {
	if *at >= skip {
		found = append(found, b)
	}
	*at++
	for _, kid := range b.children {
		if len(found) >= sweepWindow {
			break
		}
		found = kid.from(skip, at, found)
	}
	return found
}

// unchanged reports whether an answer says that a node is as it was read, or says nothing about that.
func (t *treeCache) unchanged(ev events.Event) bool {
	b := t.find(ev.Path)
	switch {
	case b == nil, ev.Code.Transient(), ev.Code == b.refused && ev.Code != events.OK:
		return true
	case ev.Code != events.OK || ev.Stat == nil:
		return false
	case b.refused != events.OK: // it exists, and exists needs no right on most servers
		return true
	}
	counted := ev.Stat.EphemeralOwner <= 0 && b.level != t.depth && b.listed
	return ev.Stat.Czxid == b.czxid && ev.Stat.Version == b.version && (!counted ||
		int(ev.Stat.NumChildren) == len(b.children))
}

// readSwept reads a node that has changed, and lists its children.
func (t *treeCache) readSwept(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b := t.find(ev.Path)
	b.listed = false
	t.schedule(read{of: b})
}
