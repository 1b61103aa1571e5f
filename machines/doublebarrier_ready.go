package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// readiness is what a member of a double barrier knows of the ready node, by which members learn that there are enough
// of them, and how it creates and deletes that.
type readiness struct {
	member
	quantity int // of members

	readyOlder bool  // it exists, and is older than the own node: another round's
	readyNewer bool  // it exists, and is newer
	version    int32 // of its data
	mayBeLeft  bool  // this member asked for it, or was inside: it may be the last to leave
}

// maxChecks is how many members one multi checks. If the quantity is larger, it checks only the own node.
const maxChecks = 512

// readyPath returns the path of the node that says that there were enough members.
func (r *readiness) readyPath() string { return join(r.dir, ReadyNode) }

// readyIsNewer reports whether the ready node is newer than the own one: there were enough members,
// and this one was among them. An older ready node is another round's and says nothing.
func (r *readiness) readyIsNewer(ev events.Event) bool { return r.readyNewer }

// readyFound reports whether an answer says that there is a ready node.
func (r *readiness) readyFound(ev events.Event) bool {
	return ev.Path == r.readyPath() && ev.Code == events.OK
}

// readyAbsent reports whether an answer says that there is no ready node.
func (r *readiness) readyAbsent(ev events.Event) bool {
	return ev.Path == r.readyPath() && ev.Code == events.NoNode
}

// readyAppeared reports whether a watch says that the ready node appeared while the own node exists.
func (r *readiness) readyAppeared(ev events.Event) bool {
	return ev.Path == r.readyPath() && r.watched
}

// readyMayBeLeft reports whether a ready node may be left that no other member deletes.
func (r *readiness) readyMayBeLeft(events.Event) bool { return r.mayBeLeft }

// quantityReached reports whether a listing shows the quantity of members.
func (r *readiness) quantityReached(ev events.Event) bool {
	return len(r.members(ev.Children)) >= r.quantity
}

// readyIsLeft reports whether a listing shows no members, but there is a ready node.
func (r *readiness) readyIsLeft(ev events.Event) bool {
	others := slices.DeleteFunc(r.members(ev.Children), func(name string) bool { return name == r.own })
	return ev.Code == events.OK && len(others) == 0 && (r.readyOlder || r.readyNewer)
}

// moved reports whether the ready node was created or replaced, or a member left, at the moment in
// which it was to be created.
func (r *readiness) moved(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.NodeExists || ev.Code == events.BadVersion
}

// recount reads the ready node, with a watch either way, and then lists the members. So the last
// member to come sees all others, and creates the ready node after they watch it.
func (r *readiness) recount(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	r.readyOlder, r.readyNewer, r.watched = false, false, false
	out.With(engine.Watch).Exists(r.readyPath())
	out.Children(r.dir)
}

// adopt notes the node that was looked for.
func (r *readiness) adopt(ev events.Event, out *engine.Outbox) {
	r.made, r.unknown = ev.Stat.Czxid, false
	r.recount(ev, out)
}

// noteReady notes whether there is a ready node, and of which round.
func (r *readiness) noteReady(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK && ev.Stat != nil {
		r.readyNewer = ev.Stat.Czxid > r.made
		r.readyOlder, r.version = !r.readyNewer, ev.Stat.Version
	}
}

// wait watches the own node. If there is an old ready node, it watches the members too: Curator's
// enter under it without creating a new one.
func (r *readiness) wait(ev events.Event, out *engine.Outbox) {
	r.clearFailure(out)
	r.forgetGone(ev)
	out.With(engine.Watch).Exists(r.ownPath())
	if r.readyOlder {
		out.With(engine.Watch).Children(r.dir)
	}
	recheckLater(out)
}

// askReady asks whether there is a ready node by now, and whether the own node still exists.
func (r *readiness) askReady(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(r.ownPath())
	out.With(engine.Watch).Exists(r.readyPath())
}

// askLater asks again later.
func (r *readiness) askLater(ev events.Event, out *engine.Outbox) { recheckLater(out) }

// open creates the ready node, on condition that the quantity of members exists at that moment. An old
// ready node is replaced in the same multi and not merely deleted: otherwise it would be unknown what
// another client created in between.
func (r *readiness) open(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	r.mayBeLeft = true
	r.forgetGone(ev)
	checks := []string{r.own}
	for _, name := range r.members(ev.Children) {
		if name != r.own && len(checks) < r.quantity && r.quantity <= maxChecks {
			checks = append(checks, name)
		}
	}
	var ops []events.Op
	for _, name := range checks {
		ops = append(ops, events.Check(join(r.dir, name)))
	}
	before := r.version
	if r.version = 0; r.readyOlder {
		ops = append(ops, events.Op{Verb: "delete", Path: r.readyPath(), Version: before})
		r.version = nextVersion(before)
	}
	ops = append(ops, events.Op{Verb: "create", Path: r.readyPath(), Mode: events.Persistent})
	for range r.version {
		ops = append(ops, events.Op{Verb: "set", Path: r.readyPath(), Version: -1})
	}
	out.Multi(ops...)
}

// nextVersion returns the version of a ready node that replaces an old one. It differs, so that a member
// that leaves the old round cannot delete the new one.
func nextVersion(before int32) int32 {
	if before >= 8 { // a set costs an operation
		return 0
	}
	return before + 1
}

// noteKept notes that the ready node may not be deleted, unless it only is another one.
func (r *readiness) noteKept(ev events.Event, out *engine.Outbox) {
	if !r.moved(ev) {
		r.mayBeLeft = false
	}
}

// lookForReady reads whether a ready node is left without members. The own node is deleted before, so
// that of several members that give up together the last one sees it.
func (r *readiness) lookForReady(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	r.readyOlder, r.readyNewer = false, false
	out.Exists(r.readyPath())
	out.Children(r.dir)
}

// deleteReady deletes a ready node without members, unless it was replaced meanwhile.
func (r *readiness) deleteReady(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: r.readyPath(), Version: r.version})
}
