package machines

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// schedule has a node read, or its children listed, once more, however often that is
// asked for before it is sent.
func (t *treeCache) schedule(l *look) {
	if !l.due && l.request == 0 {
		t.due = append(t.due, l)
	}
	l.due = true
}

// proceed sends what is due, so much at a time. When nothing is left, all is read.
func (t *treeCache) proceed(ev events.Event, out *engine.Outbox) {
	for len(t.due) > 0 && len(t.inFlight) < treeWindow {
		l := t.due[0]
		t.due = t.due[1:]
		l.due = false
		switch {
		case l.of.dead:
			continue
		case l == &l.of.self:
			l.request = out.With(engine.Watch | engine.Data | engine.ForUser).Get(l.of.path)
		default:
			l.request = out.With(engine.Watch).Children(l.of.path)
		}
		t.inFlight = append(t.inFlight, l)
	}
	if len(t.inFlight) == 0 {
		out.Tell(events.ID(t.id), events.Event{Kind: events.TreeRead})
	}
}

// about is the node that an answer is about, nil when none was asked after.
func (t *treeCache) about(ev events.Event) *cachedNode {
	for _, l := range t.inFlight {
		if l.request == ev.Request {
			return l.of
		}
	}
	return nil
}

// takeAnswer takes an answer in: what changed while it was under way is asked again.
func (t *treeCache) takeAnswer(ev events.Event) *cachedNode {
	b := t.about(ev)
	t.inFlight = slices.DeleteFunc(t.inFlight, func(l *look) bool {
		landed := l.request == ev.Request
		if landed {
			l.request = 0
			if l.due {
				t.due = append(t.due, l)
			}
		}
		return landed
	})
	return b
}

// dropInFlight is the end of what is under way: its answers will not come any more.
func (t *treeCache) dropInFlight() []*look {
	looks := append(t.inFlight, t.due...)
	for _, l := range looks {
		l.request, l.due = 0, false
	}
	t.inFlight, t.due = nil, nil
	return looks
}

// keepDue puts off what was under way, and what was due after it.
func (t *treeCache) keepDue(ev events.Event, out *engine.Outbox) {
	for _, l := range t.dropInFlight() {
		t.schedule(l)
	}
	if !t.root.told {
		t.schedule(&t.root.self)
	}
	t.tellStale(ev.Code, out)
}

// tellStale tells that what was told may be out of date, once.
func (t *treeCache) tellStale(why events.Code, out *engine.Outbox) {
	if t.told {
		out.Notify(events.Notify{What: events.Stale, Path: t.path, Code: why})
	}
	t.told = false
}

// noteGap is the end of a connection: nodes may change, come and go unseen.
func (t *treeCache) noteGap(ev events.Event, out *engine.Outbox) {
	t.dropInFlight()
	t.told = t.seen && !t.gap
	t.gap = t.seen
	t.tellStale(events.ConnectionLoss, out)
}

// settle tells that all is read, once on each connection.
func (t *treeCache) settle(ev events.Event, out *engine.Outbox) {
	t.clearFailure(out)
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

// readTop reads the node at the top; all else follows from that.
func (t *treeCache) readTop(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	t.schedule(&t.root.self)
	t.proceed(ev, out)
}

// renew has all that is known read again, with new watches. A server that is
// behind what was seen in another session is brought up to date first.
func (t *treeCache) renew(ev events.Event, out *engine.Outbox) {
	if t.seen {
		out.With(engine.Unawaited).Sync(t.path)
	}
	t.rereadBelow(t.root)
}

func (t *treeCache) rereadBelow(b *cachedNode) {
	b.listed = false
	t.schedule(&b.self)
	for _, kid := range b.children {
		t.rereadBelow(kid)
	}
}

// noteWatch has read again what a watch tells of. A deletion is told of the directory,
// too: its listing shows whether there is another node at the path by now.
func (t *treeCache) noteWatch(ev events.Event, out *engine.Outbox) {
	b := t.find(ev.Path)
	switch {
	case b == nil:
	case ev.Kind == events.WatchDeleted:
		b.listed, b.deleted = false, true
		if b == t.root {
			t.schedule(&b.self)
		}
	case ev.Kind == events.WatchChanged:
		t.schedule(&b.self)
	case b.listed || b.below.request != 0:
		t.schedule(&b.below)
	}
}

// noteData tells what a node holds, and has its children listed where no watch on them
// stands. Ephemeral nodes have none; the owner of a container, and of a node with a
// TTL, is below zero.
func (t *treeCache) noteData(ev events.Event, out *engine.Outbox) {
	b, stat := t.takeAnswer(ev), events.Stat{}
	if ev.Stat != nil {
		stat = *ev.Stat
	}
	t.tell(b, stat, events.Notify{Work: ev.Request}, out)
	switch {
	case stat.EphemeralOwner > 0 || b.level == t.depth:
		t.prune(b, out)
	case !b.listed:
		t.schedule(&b.below)
	}
}

// tellUnreadable tells that a node cannot be read; nor is known what is below it.
func (t *treeCache) tellUnreadable(ev events.Event, out *engine.Outbox) {
	b := t.takeAnswer(ev)
	t.prune(b, out)
	t.tell(b, events.Stat{}, events.Notify{Code: ev.Code}, out)
}

// tell tells what a read has found, without a word to listeners (silent) where
// that was known: the rest of the Stat may be news.
func (t *treeCache) tell(b *cachedNode, now events.Stat, n events.Notify, out *engine.Outbox) {
	n.Silent = b.told && b.refused == n.Code && b.czxid == now.Czxid && b.version == now.Version
	if b.czxid != now.Czxid {
		b.listed = false // another node: so are its children
	}
	b.told, b.refused, b.czxid, b.version = true, n.Code, now.Czxid, now.Version
	n.What, n.Path = events.Present, b.path
	t.seen = true
	out.Notify(n)
}

// noteListing takes a listing: what is new is read, and so is what took the place of
// another, or could not be read before; what is gone is told.
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
			t.schedule(&kid.self)
		case kid.deleted || kid.refused != events.OK:
			t.schedule(&kid.self)
		}
		kid.deleted = false
		kids = append(kids, kid)
	}
	b.children, b.listed = kids, true
}

// drop is a node that is gone before its directory was listed again.
func (t *treeCache) drop(ev events.Event, out *engine.Outbox) {
	b := t.takeAnswer(ev)
	if i, known := b.parent.findChild(b.name()); known {
		b.parent.children = slices.Delete(b.parent.children, i, i+1)
	}
	t.tellRemoved(b, out)
}

// discard is an answer that is of no use any more.
func (t *treeCache) discard(ev events.Event, out *engine.Outbox) { t.takeAnswer(ev) }

// tellRemoved tells that a node is gone, and first what was below it.
func (t *treeCache) tellRemoved(b *cachedNode, out *engine.Outbox) {
	t.prune(b, out)
	b.dead = true
	t.size--
	if b.told {
		out.Notify(events.Notify{What: events.Absent, Path: b.path})
	}
}

func (t *treeCache) prune(b *cachedNode, out *engine.Outbox) {
	for _, kid := range b.children {
		t.tellRemoved(kid, out)
	}
	b.children, b.listed = nil, false
}

// clear is the end of the node at the top, until there is another.
func (t *treeCache) clear(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	t.dropInFlight()
	t.tellRemoved(t.root, out)
	t.root, t.size = newCachedNode(nil, t.path), 1
}

// watchPath waits for it.
func (t *treeCache) watchPath(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(t.path)
}

// giveUp stops reading for good: half a tree would be none.
func (t *treeCache) giveUp(ev events.Event, out *engine.Outbox) {
	t.dropInFlight()
	t.root = newCachedNode(nil, t.path)
	t.reportFailure(events.TreeTooLarge, fmt.Sprintf("%s: more than %d nodes", t.path, t.maxNodes), ev, out)
	t.tellStale(events.TreeTooLarge, out)
}
