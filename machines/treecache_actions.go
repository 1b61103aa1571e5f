package machines

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// schedule schedules a read of a node, or a listing of its children. Until it is sent, further calls
// add nothing.
func (t *treeCache) schedule(r read) {
	l := r.state()
	if !l.due && l.request == 0 {
		t.due = append(t.due, r)
	}
	l.due = true
}

// proceed sends scheduled reads, up to treeWindow at a time. If none is left, everything is read.
func (t *treeCache) proceed(ev events.Event, out *engine.Outbox) {
	watch := engine.Watch
	if t.set {
		watch = 0
	}
	for len(t.due) > 0 && len(t.inFlight) < treeWindow {
		r := t.due[0]
		t.due = t.due[1:]
		l := r.state()
		l.due = false
		switch {
		case r.of.dead:
			continue
		case r.listing:
			l.request = out.With(watch).Children(r.of.path)
		default:
			l.request = out.With(watch | t.dataFor()).Get(r.of.path)
		}
		t.inFlight = append(t.inFlight, r)
	}
	if len(t.inFlight) == 0 {
		out.Tell(events.ID(t.id), events.Event{Kind: events.TreeRead})
	}
}

// dataFor returns who gets the data of a node: the user, or the machine that opened the cache.
func (t *treeCache) dataFor() engine.Modifier {
	if t.opener != "" {
		return engine.Data
	}
	return engine.Data | engine.ForUser
}

// about returns the node that an answer is about, nil if the answer was not asked for.
func (t *treeCache) about(ev events.Event) *cachedNode {
	for _, r := range t.inFlight {
		if r.state().request == ev.Request {
			return r.of
		}
	}
	return nil
}

// takeAnswer notes an answer. If the node changed while it was pending, it is read again.
func (t *treeCache) takeAnswer(ev events.Event) *cachedNode {
	b := t.about(ev)
	t.inFlight = slices.DeleteFunc(t.inFlight, func(r read) bool {
		l := r.state()
		match := l.request == ev.Request
		if match {
			l.request = 0
			if l.due {
				t.due = append(t.due, r)
			}
		}
		return match
	})
	return b
}

// dropInFlight drops the pending reads: their answers will not come any more.
func (t *treeCache) dropInFlight() []read {
	reads := append(t.inFlight, t.due...)
	for _, r := range reads {
		*r.state() = look{}
	}
	t.inFlight, t.due = nil, nil
	return reads
}

// keepDue schedules the pending reads again, and those behind them, for after the pause.
func (t *treeCache) keepDue(ev events.Event, out *engine.Outbox) {
	for _, r := range t.dropInFlight() {
		t.schedule(r)
	}
	if !t.root.told {
		t.schedule(read{of: t.root})
	}
	t.tellStale(ev.Code, out)
}

// tellStale notifies the handle once that the cache may be out of date.
func (t *treeCache) tellStale(why events.Code, out *engine.Outbox) {
	switch {
	case t.opener != "":
		out.Tell(t.opener, events.Event{Kind: events.TreeRead, Path: t.path, Code: why, Text: t.series().text})
	case t.told:
		out.Notify(events.Notify{What: events.Stale, Path: t.path, Code: why})
	}
	t.told = false
}

// noteGap handles the end of a connection: changes may be missed, and a recursive watch is gone.
func (t *treeCache) noteGap(ev events.Event, out *engine.Outbox) {
	t.dropInFlight()
	t.set, t.refusedHere = false, false
	t.told = t.seen && !t.gap
	t.gap = t.seen
	t.tellStale(events.ConnectionLoss, out)
}

// settle notifies the handle that everything is read, once on each connection; an opener each time.
func (t *treeCache) settle(ev events.Event, out *engine.Outbox) {
	t.clearFailure(out)
	if t.opener != "" {
		t.seen = true
		out.Tell(t.opener, events.Event{Kind: events.TreeRead, Path: t.path})
		return
	}
	if t.told {
		return
	}
	n := events.Notify{What: events.Settled, Path: t.path}
	if t.gap {
		n.Code = events.ConnectionLoss
	}
	t.seen, t.told, t.gap = true, true, false
	out.Notify(n)
}

// readTop reads the node at the top. All other reads follow from that.
func (t *treeCache) readTop(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	t.schedule(read{of: t.root})
	t.proceed(ev, out)
}

// renew reads all known nodes again, with new watches.
func (t *treeCache) renew(ev events.Event, out *engine.Outbox) {
	t.catchUp(out)
	t.rereadBelow(t.root)
}

// catchUp brings a server that is behind what was seen before up to date, before it answers what
// follows.
func (t *treeCache) catchUp(out *engine.Outbox) {
	if t.seen {
		out.With(engine.Unawaited).Sync(t.path)
	}
}

// rereadBelow schedules reads of a node and of all below it.
func (t *treeCache) rereadBelow(b *cachedNode) {
	b.listed = false
	t.schedule(read{of: b})
	if b.below.request != 0 { // what is pending leaves no watch
		t.schedule(read{of: b, listing: true})
	}
	for _, kid := range b.children {
		t.rereadBelow(kid)
	}
}

// noteWatch schedules the read for a watch that fired. A deletion also makes the directory's watch
// fire: its listing shows whether there is another node at the path by now.
func (t *treeCache) noteWatch(ev events.Event, out *engine.Outbox) {
	b := t.find(ev.Path)
	switch {
	case b == nil:
	case ev.Kind == events.WatchDeleted:
		b.listed, b.deleted = false, true
		if b == t.root {
			t.schedule(read{of: b})
		}
	case ev.Kind == events.WatchChanged:
		t.schedule(read{of: b})
	case b.listed || b.below.request != 0:
		t.schedule(read{of: b, listing: true})
	}
}

// noteData notifies the handle of what a node holds, and lists its children unless a watch on them is
// armed. Ephemeral nodes have none; the owner of a container, and of a node with a TTL, is below zero.
// A recursive watch has reported all children that came or went before this answer, so a node without
// children is not listed, and one that was listed only if their number is another. (No event comes of a
// child that the client may not read.)
func (t *treeCache) noteData(ev events.Event, out *engine.Outbox) {
	b, stat := t.takeAnswer(ev), events.Stat{}
	if ev.Stat != nil {
		stat = *ev.Stat
	}
	t.tell(b, stat, events.Notify{Work: ev.Request}, out)
	t.tellOpener(b, events.Event{Kind: events.TreeNode, Data: ev.Data, Stat: &stat}, out)
	switch {
	case stat.EphemeralOwner > 0 || b.level == t.depth:
		t.prune(b, out)
	case t.set && stat.NumChildren == 0:
		t.prune(b, out)
		b.listed = true
	case !b.listed || t.set && int(stat.NumChildren) != len(b.children):
		t.schedule(read{of: b, listing: true})
	}
}

// tellUnreadable notifies the handle that a node cannot be read. What is below it is not known either.
func (t *treeCache) tellUnreadable(ev events.Event, out *engine.Outbox) {
	b := t.takeAnswer(ev)
	t.prune(b, out)
	t.tell(b, events.Stat{}, events.Notify{Code: ev.Code}, out)
	t.tellOpener(b, events.Event{Kind: events.TreeNode, Code: ev.Code}, out)
}

// tellOpener tells the machine that opened this one, if one did, something about a node.
func (t *treeCache) tellOpener(b *cachedNode, ev events.Event, out *engine.Outbox) {
	if t.opener != "" {
		ev.Path = b.path
		out.Tell(t.opener, ev)
	}
}

// tellListed tells the opener which children of a node are left.
func (t *treeCache) tellListed(b *cachedNode, out *engine.Outbox) {
	var names []string
	for _, kid := range b.children {
		names = append(names, kid.name())
	}
	t.tellOpener(b, events.Event{Kind: events.TreeListed, Children: names}, out)
}

// tell notifies the handle of what a read has found. If that was known, listeners are not called
// (Silent), but the rest of the Stat may have changed.
func (t *treeCache) tell(b *cachedNode, now events.Stat, n events.Notify, out *engine.Outbox) {
	n.Silent = b.told && b.refused == n.Code && b.czxid == now.Czxid && b.version == now.Version
	if b.czxid != now.Czxid {
		b.listed = false // another node, so its children are others, too
	}
	t.countRefusal(b, -1)
	b.told, b.refused, b.czxid, b.version = true, n.Code, now.Czxid, now.Version
	t.countRefusal(b, 1)
	t.setGone(b, false)
	n.What, n.Path = events.Present, b.path
	t.seen = true
	if t.opener == "" {
		out.Notify(n)
	}
}

// noteListing handles a listing. It reads new nodes, and those that replaced another or could not be
// read before, and notifies the handle of those that are gone.
func (t *treeCache) noteListing(ev events.Event, out *engine.Outbox) {
	b := t.takeAnswer(ev)
	var kids []*cachedNode
	for kid, name := range b.pairChildren(ev.Children) {
		switch {
		case name == "":
			t.tellRemoved(kid, out)
			continue
		case kid == nil:
			kid = newCachedNode(b, join(b.path, name))
			t.size++
			t.schedule(read{of: kid})
		case kid.deleted || kid.refused != events.OK:
			t.schedule(read{of: kid})
		}
		kid.deleted = false
		t.setGone(kid, false)
		kids = append(kids, kid)
	}
	b.children, b.listed = kids, true
	t.tellListed(b, out)
}

// drop handles a node that is gone before its directory was listed again.
func (t *treeCache) drop(ev events.Event, out *engine.Outbox) {
	b := t.takeAnswer(ev)
	if i, known := b.parent.findChild(b.name()); known {
		b.parent.children = slices.Delete(b.parent.children, i, i+1)
	}
	t.tellRemoved(b, out)
	t.tellOpener(b, events.Event{Kind: events.TreeNode, Code: events.NoNode}, out)
}

// discard drops an answer that is no longer needed.
func (t *treeCache) discard(ev events.Event, out *engine.Outbox) { t.takeAnswer(ev) }

// tellRemoved notifies the handle that a node is gone, and before that the nodes below it.
func (t *treeCache) tellRemoved(b *cachedNode, out *engine.Outbox) {
	t.removeBelow(b, out)
	t.countRefusal(b, -1)
	t.setGone(b, false)
	b.dead = true
	t.size--
	if b.told && t.opener == "" {
		out.Notify(events.Notify{What: events.Absent, Path: b.path})
	}
}

// prune removes all nodes below one that is there.
func (t *treeCache) prune(b *cachedNode, out *engine.Outbox) {
	left := len(b.children) > 0
	t.removeBelow(b, out)
	if left {
		t.tellListed(b, out)
	}
}

// removeBelow removes all nodes below one.
func (t *treeCache) removeBelow(b *cachedNode, out *engine.Outbox) {
	for _, kid := range b.children {
		t.tellRemoved(kid, out)
	}
	b.children, b.listed = nil, false
}

// clear empties the cache, because the node at the top is gone.
func (t *treeCache) clear(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	t.dropInFlight()
	t.tellRemoved(t.root, out)
	t.tellOpener(t.root, events.Event{Kind: events.TreeNode, Code: events.NoNode}, out)
	t.root, t.size, t.swept = newCachedNode(nil, t.path), 1, 0
}

// clearUnderWatch is clear where a recursive watch reports the creation of the node at the top.
func (t *treeCache) clearUnderWatch(ev events.Event, out *engine.Outbox) {
	t.clear(ev, out)
	t.sweepLater(ev, out)
}

// watchPath watches for the creation of the node at the top.
func (t *treeCache) watchPath(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(t.path)
}

// giveUp stops reading, because half a tree would be of no use.
func (t *treeCache) giveUp(ev events.Event, out *engine.Outbox) {
	t.dropInFlight()
	t.root, t.refusals, t.gone = newCachedNode(nil, t.path), 0, 0
	t.reportFailure(events.TreeTooLarge, fmt.Sprintf("%s: more than %d nodes", t.path, t.maxNodes), ev, out)
	t.tellStale(events.TreeTooLarge, out)
}
