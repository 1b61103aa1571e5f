package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// noteEnter notes the command to enter.
func (b *doubleBarrier) noteEnter(ev events.Event, out *engine.Outbox) {
	b.goal, b.enters, b.lost, b.awaitedMembers = enter, ev.Request, false, awaitedMembers{}
	if ev.SessionID != 0 {
		b.attach(ev, out)
	}
}

func (b *doubleBarrier) refuseEnter(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.Inside, "")
}

func (b *doubleBarrier) refuseLeave(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.Outside, "")
}

// create creates an own node with a new name. Nodes that older sessions of this machine left are
// deleted first: one process must not count twice. Names are never used again, so no other member's
// node can be deleted.
func (b *doubleBarrier) create(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.resetParents()
	for _, name := range b.oldNodes {
		out.With(engine.Unawaited).Delete(join(b.dir, name))
	}
	b.searchOwn(ev, out)
	b.count++
	b.own, b.made, b.watched, b.unknown = guid(b.seed, b.count), 0, false, false
	b.createdAt = ev.At
	b.sendCreate(out)
}

// createWithParents creates the missing parents, and the own node behind them, whose name was not used
// yet.
func (b *doubleBarrier) createWithParents(ev events.Event, out *engine.Outbox) {
	b.makeParents(ev, out)
	b.sendCreate(out)
}

// sendCreate sends the create of the own node.
func (b *doubleBarrier) sendCreate(out *engine.Outbox) {
	b.creating = out.Create(events.Op{Path: b.ownPath(), Mode: events.Ephemeral})
}

// settle notes the outcome of a create.
func (b *doubleBarrier) settle(ev events.Event, out *engine.Outbox) {
	b.creating = 0
	b.noteCode(ev)
	switch {
	case ev.Code == events.OK:
		b.made = ev.Zxid
	case b.createMayExist(ev):
		b.unknown = true
	default:
		b.own = ""
	}
}

// lookUp reads whether a create with a lost reply was carried out. The check before it goes through
// the quorum: a deposed leader answers a sync, and does not show the node.
func (b *doubleBarrier) lookUp(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.creating, b.unknown = 0, true
	out.Multi(events.Check(b.ownPath()))
	out.Exists(b.ownPath())
}

// adopt notes the node that was looked for.
func (b *doubleBarrier) adopt(ev events.Event, out *engine.Outbox) {
	b.made, b.unknown = ev.Stat.Czxid, false
	b.recount(ev, out)
}

// answerRefused answers the enter with a refusal that is not transient.
func (b *doubleBarrier) answerRefused(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.settle(ev, out)
	b.own, b.made, b.unknown = "", 0, false
	b.deleteAndRefuse(b.rootCause(ev), out)
}

// deleteAndRefuse answers the enter with a refusal. The node exists, and is deleted next.
func (b *doubleBarrier) deleteAndRefuse(ev events.Event, out *engine.Outbox) {
	b.clearFailure(out)
	out.Answer(b.enters, ev.Code, b.failureText(ev))
	b.goal = nothing
}

// recount reads the ready node, with a watch either way, and then lists the members. So the last
// member to come sees all others, and creates the ready node after they watch it.
func (b *doubleBarrier) recount(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.readyOlder, b.readyNewer, b.watched = false, false, false
	out.With(engine.Watch).Exists(b.readyPath())
	out.Children(b.dir)
}

// noteReady notes whether there is a ready node, and of which round.
func (b *doubleBarrier) noteReady(ev events.Event, out *engine.Outbox) {
	if ev.Code == events.OK && ev.Stat != nil {
		b.readyNewer = ev.Stat.Czxid > b.made
		b.readyOlder, b.version = !b.readyNewer, ev.Stat.Version
	}
}

// noteOwn notes that the own node exists and is watched.
func (b *doubleBarrier) noteOwn(ev events.Event, out *engine.Outbox) {
	b.watched = b.watched || ev.Path == b.ownPath()
}

// forgetGone forgets the older sessions' nodes that a listing does not show any more.
func (b *doubleBarrier) forgetGone(ev events.Event) {
	b.oldNodes = slices.DeleteFunc(b.oldNodes, func(name string) bool { return !slices.Contains(ev.Children, name) })
}

// maxChecks is how many members one multi checks. If the quantity is larger, it checks only the own node.
const maxChecks = 512

// open creates the ready node, on condition that the quantity of members exists at that moment. An old
// ready node is replaced in the same multi and not merely deleted: otherwise it would be unknown what
// another client created in between.
func (b *doubleBarrier) open(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.mayBeLeft = true
	b.forgetGone(ev)
	checks := []string{b.own}
	for _, name := range b.members(ev.Children) {
		if name != b.own && len(checks) < b.quantity && b.quantity <= maxChecks {
			checks = append(checks, name)
		}
	}
	var ops []events.Op
	for _, name := range checks {
		ops = append(ops, events.Check(join(b.dir, name)))
	}
	before := b.version
	if b.version = 0; b.readyOlder {
		ops = append(ops, events.Op{Verb: "delete", Path: b.readyPath(), Version: before})
		b.version = nextVersion(before)
	}
	ops = append(ops, events.Op{Verb: "create", Path: b.readyPath(), Mode: events.Persistent})
	for range b.version {
		ops = append(ops, events.Op{Verb: "set", Path: b.readyPath(), Version: -1})
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

// answerEntered answers the enter.
func (b *doubleBarrier) answerEntered(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.goal, b.mayBeLeft = remain, true
	b.clearFailure(out)
	out.Answer(b.enters, events.OK, "")
}

// answerEnteredByWatch answers the enter when a ready node has just appeared.
func (b *doubleBarrier) answerEnteredByWatch(ev events.Event, out *engine.Outbox) {
	b.version = 0
	b.answerEntered(ev, out)
}

// loseOwn notes that somebody deleted the own node while the member was entering.
func (b *doubleBarrier) loseOwn(ev events.Event, out *engine.Outbox) {
	b.own, b.made = "", 0
	b.noteLost(ev)
}

// loseNode notes that the own node was deleted while the member was inside.
func (b *doubleBarrier) loseNode(ev events.Event, out *engine.Outbox) {
	b.own, b.made, b.lost = "", 0, true
	b.reportFailure(events.MemberGone, b.dir, ev, out)
}

// noteLeave notes the command to leave.
func (b *doubleBarrier) noteLeave(ev events.Event, out *engine.Outbox) {
	b.goal, b.leaves, b.awaitedMembers = leaveBarrier, ev.Request, awaitedMembers{}
}

// list lists the members. The first time it sends a check through the quorum before: on a server that
// lags, or whose leader was deposed, a member that is inside may not be visible yet. A ready node that
// is not known is read first.
func (b *doubleBarrier) list(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if !b.begun {
		out.Multi(events.Check(b.dir))
	}
	if b.readyUnknown {
		b.readyOlder, b.readyNewer = false, false
		out.Exists(b.readyPath())
	}
	out.Children(b.dir)
}

// relist lists the members of the round again after one has left.
func (b *doubleBarrier) relist(ev events.Event, out *engine.Outbox) {
	if len(b.others) > 0 {
		b.others = b.others[1:]
	}
	if !b.lost {
		b.clearFailure(out)
	}
	b.list(ev, out)
}

// watchOne waits for one of the others. Every other member deletes its own node first; only the lowest
// keeps its node until it is alone, and then deletes the ready node with it. Members that come for the
// next round meanwhile are not waited for.
func (b *doubleBarrier) watchOne(ev events.Event, out *engine.Outbox) {
	others := b.remainingOthers(ev.Children)
	b.noteAbsence(ev)
	if !b.begun {
		b.begun, b.listedZxid = true, ev.Zxid
	}
	b.others = others
	if b.own != "" && b.own > others[0] {
		out.Delete(b.ownPath())
	}
	b.rewatch(ev, out)
}

// noteAbsence handles a listing without the own node. If leaving had not begun, the node was deleted
// while the member was inside.
func (b *doubleBarrier) noteAbsence(ev events.Event) {
	if !b.listed(ev) {
		b.lost = b.lost || !b.begun
		b.own, b.made, b.creating, b.unknown = "", 0, 0, false
	}
}

// noteDeleted notes that this machine deleted the own node.
func (b *doubleBarrier) noteDeleted(ev events.Event, out *engine.Outbox) { b.own, b.made = "", 0 }

// reportStuckMember reports a member that will never leave by itself.
func (b *doubleBarrier) reportStuckMember(ev events.Event, out *engine.Outbox) {
	if !ev.Stat.Ephemeral() {
		b.reportFailure(events.PersistentNode, ev.Path, ev, out)
	}
}

// deleteWithReady deletes the own node and the ready node of its round, both or none. A ready node
// that has replaced that one may be the next round's, unless no other member is there.
func (b *doubleBarrier) deleteWithReady(ev events.Event, out *engine.Outbox) {
	b.begun = true
	if b.readyUnknown && (len(b.members(ev.Children)) > 1 || !b.readyOlder && !b.readyNewer) {
		b.mayBeLeft = false
		b.deleteOwn(ev, out)
		return
	}
	out.Multi(events.Op{Verb: "delete", Path: b.ownPath(), Version: -1}, events.Op{Verb: "delete", Path: b.readyPath(), Version: b.version})
}

// relook reads the ready node that has replaced the one that let the member in, because others came
// later, and lists whether any of them is left.
func (b *doubleBarrier) relook(ev events.Event, out *engine.Outbox) {
	b.readyUnknown = true
	b.list(ev, out)
}

// deleteOwn deletes the own node, as soon as there is a connection and no create is pending.
func (b *doubleBarrier) deleteOwn(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if ev.Attached && b.creating == 0 {
		out.Delete(b.ownPath())
	}
}

// settleAndDelete notes that the create was answered, and deletes the own node.
func (b *doubleBarrier) settleAndDelete(ev events.Event, out *engine.Outbox) {
	b.creating = 0
	b.deleteOwn(ev, out)
}

// finishLeave ends a leave, or an enter that was cancelled.
func (b *doubleBarrier) finishLeave(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ReplyChildren && b.goal == leaveBarrier {
		b.noteAbsence(ev)
	}
	b.searchOwn(ev, out)
	b.own, b.made, b.creating, b.unknown, b.mayBeLeft = "", 0, 0, false, false
	if !b.lost {
		b.clearFailure(out)
	}
	if b.goal != leaveBarrier {
		return
	}
	b.goal = nothing
	if b.lost {
		out.Answer(b.leaves, events.MemberGone, b.dir)
		return
	}
	out.Answer(b.leaves, events.OK, "")
}

// searchOwn has the server's late create of the own name searched for, which is given up. Nobody else can have the
// name.
func (b *doubleBarrier) searchOwn(ev events.Event, out *engine.Outbox) {
	if b.own != "" {
		b.search(b.id, b.dir, map[string]string{OptionName: b.own}, out)
	}
}

// departLost ends a leave, or a cancelled enter, with the session.
func (b *doubleBarrier) departLost(ev events.Event, out *engine.Outbox) {
	out.DropCreates()
	b.keepAsOld()
	b.finishLeave(ev, out)
}

// departEnd answers the commands that closed the machine.
func (b *doubleBarrier) departEnd(ev events.Event, out *engine.Outbox) {
	b.finishLeave(ev, out)
	for _, c := range b.closing {
		out.Answer(c, events.OK, "")
	}
	b.closing = nil
}

// giveUp answers a command that is cancelled.
func (b *doubleBarrier) giveUp(ev events.Event, out *engine.Outbox) {
	b.answerPending(events.Cancelled, out)
	b.goal = nothing
	if b.own == "" {
		b.clearFailure(out)
	}
}

// answerPending answers the enter or the leave that waits.
func (b *doubleBarrier) answerPending(code events.Code, out *engine.Outbox) {
	switch b.goal {
	case enter:
		out.Answer(b.enters, code, "")
	case leaveBarrier:
		out.Answer(b.leaves, code, "")
	}
}

// close notes the command that closes the machine, and refuses the one that waits.
func (b *doubleBarrier) close(ev events.Event, out *engine.Outbox) {
	b.answerPending(events.Closed, out)
	b.goal = nothing
	b.closing = append(b.closing, ev.Request)
}

func (b *doubleBarrier) dropPending(ev events.Event, out *engine.Outbox) { out.DropPending() }

// lose handles the end of the session: the ensemble deletes the own node.
func (b *doubleBarrier) lose(ev events.Event, out *engine.Outbox) {
	out.DropCreates()
	b.keepAsOld()
	if b.goal == remain || b.goal == leaveBarrier && !b.begun {
		b.lost = true
		b.reportFailure(events.MemberGone, b.dir, ev, out)
	}
}

// keepAsOld makes the own node one of an older session's.
func (b *doubleBarrier) keepAsOld() {
	if b.own != "" {
		b.oldNodes = append(b.oldNodes, b.own)
	}
	b.mayFollow = false
	b.own, b.made, b.creating, b.unknown = "", 0, 0, false
}

// attach notes the session of the new connection.
func (b *doubleBarrier) attach(ev events.Event, out *engine.Outbox) {
	b.owner = ev.SessionID
	b.noteTimeout(ev)
}

// failByRootCause reports a failure with the refused parent as the reason, and pauses before the next
// attempt.
func (b *doubleBarrier) failByRootCause(ev events.Event, out *engine.Outbox) {
	b.failAndBackOff(b.rootCause(ev), out)
}
