package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// member is the own node of a member of a double barrier. It has a new name in each round and each session.
type member struct {
	paced
	parentMaker
	attempts
	seed  string
	owner int64 // ZooKeeper's id of the session

	count    uint64   // nodes begun; the names are derived from it and the seed
	own      string   // its name; "": there is none
	creating uint64   // the number of the create that is pending; 0: none
	unknown  bool     // the outcome of the create
	made     int64    // its czxid; 0: it is not known to exist
	watched  bool     // it was seen to exist, with a watch
	oldNodes []string // names of older sessions' nodes, until they are gone
	lost     bool     // the node was deleted while the member was inside
}

// ownPath returns the own node's path.
func (m *member) ownPath() string { return join(m.dir, m.own) }

// isOwn reports whether an event is about the own node.
func (m *member) isOwn(ev events.Event) bool {
	return m.own != "" && ev.Path == m.ownPath()
}

// listed reports whether a listing shows the own node.
func (m *member) listed(ev events.Event) bool {
	return m.own != "" && slices.Contains(ev.Children, m.own)
}

// answered reports whether an answer says that a node exists, or that it does not.
func (m *member) answered(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// failed reports whether an answer says neither.
func (m *member) failed(ev events.Event) bool { return !m.answered(ev) }

// entered reports whether a request was carried out.
func (m *member) entered(ev events.Event) bool { return ev.Code == events.OK }

// nodeExists reports whether a node is at the own path already.
func (m *member) nodeExists(ev events.Event) bool { return ev.Code == events.NodeExists }

// refusedForGood reports whether a refusal is not transient.
func (m *member) refusedForGood(ev events.Event) bool {
	return m.failed(ev) && !m.transient(ev)
}

// delayed reports whether the create of the node or of its parents may succeed later.
func (m *member) delayed(ev events.Event) bool { return m.transient(m.rootCause(ev)) }

// createMayExist reports whether a create may have created the node, although it was not answered with
// success.
func (m *member) createMayExist(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code.Unknown()
}

// notCreated reports whether a create surely created nothing.
func (m *member) notCreated(ev events.Event) bool {
	return ev.Code != events.OK && !m.createMayExist(ev)
}

// inFlight reports whether a create is pending.
func (m *member) inFlight(events.Event) bool { return m.creating != 0 }

// createUnknown reports whether a create with an unknown outcome may have created the node.
func (m *member) createUnknown(events.Event) bool { return m.unknown }

// counted reports whether the own node exists, as far as is known.
func (m *member) counted(events.Event) bool { return m.made != 0 }

// mayHaveNode reports whether the machine may have a node.
func (m *member) mayHaveNode(events.Event) bool { return m.own != "" }

// ours reports whether an answer is about the own node, and this session owns it.
func (m *member) ours(ev events.Event) bool {
	return ev.Path == m.ownPath() && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == m.owner
}

// ownGone reports whether an answer says that the own node does not exist, or is another session's.
func (m *member) ownGone(ev events.Event) bool {
	return ev.Path == m.ownPath() && m.answered(ev) && !m.ours(ev)
}

// ownDeleted reports whether the own node is gone, as a watch or an answer says.
func (m *member) ownDeleted(ev events.Event) bool {
	return m.isOwn(ev) && (ev.Kind == events.WatchDeleted || m.ownGone(ev))
}

// ownMissing reports whether a listing does not show the own node.
func (m *member) ownMissing(ev events.Event) bool {
	return m.answered(ev) && !m.listed(ev)
}

// members returns the members in a listing, lowest first: every child except the ready node and nodes
// of older sessions of this machine.
func (m *member) members(children []string) []string {
	var all []string
	for _, name := range children {
		if name != ReadyNode && !slices.Contains(m.oldNodes, name) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// attach notes the session of the new connection.
func (m *member) attach(ev events.Event, out *engine.Outbox) {
	m.owner = ev.SessionID
	m.noteTimeout(ev)
}

// create creates an own node with a new name. Nodes that older sessions of this machine left are
// deleted first: one process must not count twice. Names are never used again, so no other member's
// node can be deleted.
func (m *member) create(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	m.resetParents()
	for _, name := range m.oldNodes {
		out.With(engine.Unawaited).Delete(join(m.dir, name))
	}
	m.searchOwn(ev, out)
	m.count++
	m.own, m.made, m.watched, m.unknown = guid(m.seed, m.count), 0, false, false
	m.createdAt = ev.At
	m.sendCreate(out)
}

// createWithParents creates the missing parents, and the own node behind them, whose name was not used
// yet.
func (m *member) createWithParents(ev events.Event, out *engine.Outbox) {
	m.makeParents(ev, out)
	m.sendCreate(out)
}

// sendCreate sends the create of the own node.
func (m *member) sendCreate(out *engine.Outbox) {
	m.creating = out.Create(events.Op{Path: m.ownPath(), Mode: events.Ephemeral})
}

// settle notes the outcome of a create.
func (m *member) settle(ev events.Event, out *engine.Outbox) {
	m.creating = 0
	m.noteCode(ev)
	switch {
	case ev.Code == events.OK:
		m.made = ev.Zxid
	case m.createMayExist(ev):
		m.unknown = true
	default:
		m.own = ""
	}
}

// lookUp reads whether a create with a lost reply was carried out. The check before it goes through
// the quorum: a deposed leader answers a sync, and does not show the node.
func (m *member) lookUp(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	m.creating, m.unknown = 0, true
	out.Multi(events.Check(m.ownPath()))
	out.Exists(m.ownPath())
}

// searchOwn has the server's late create of the own name searched for, which is given up. Nobody else can have the
// name.
func (m *member) searchOwn(ev events.Event, out *engine.Outbox) {
	if m.own != "" {
		m.search(m.id, m.dir, map[string]string{OptionName: m.own}, out)
	}
}

// failByRootCause reports a failure with the refused parent as the reason, and pauses before the next
// attempt.
func (m *member) failByRootCause(ev events.Event, out *engine.Outbox) {
	m.failAndBackOff(m.rootCause(ev), out)
}

// noteOwn notes that the own node exists and is watched.
func (m *member) noteOwn(ev events.Event, out *engine.Outbox) {
	m.watched = m.watched || ev.Path == m.ownPath()
}

// loseOwn notes that somebody deleted the own node while the member was entering.
func (m *member) loseOwn(ev events.Event, out *engine.Outbox) {
	m.own, m.made = "", 0
	m.noteLost(ev)
}

// noteDeleted notes that this machine deleted the own node.
func (m *member) noteDeleted(ev events.Event, out *engine.Outbox) { m.own, m.made = "", 0 }

// deleteOwn deletes the own node, as soon as there is a connection and no create is pending.
func (m *member) deleteOwn(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Attached && m.creating == 0 {
		out.Delete(m.ownPath())
	}
}

// settleAndDelete notes that the create was answered, and deletes the own node.
func (m *member) settleAndDelete(ev events.Event, out *engine.Outbox) {
	m.creating = 0
	m.deleteOwn(ev, out)
}

// keepAsOld makes the own node one of an older session's.
func (m *member) keepAsOld() {
	if m.own != "" {
		m.oldNodes = append(m.oldNodes, m.own)
	}
	m.mayFollow = false
	m.own, m.made, m.creating, m.unknown = "", 0, 0, false
}

// forgetGone forgets the older sessions' nodes that a listing does not show any more.
func (m *member) forgetGone(ev events.Event) {
	m.oldNodes = slices.DeleteFunc(m.oldNodes, func(name string) bool { return !slices.Contains(ev.Children, name) })
}
