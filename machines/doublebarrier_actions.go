package machines

import (
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
	others := b.remaining(b.members(ev.Children), b.own)
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
	out.Multi(events.Op{Verb: "delete", Path: b.ownPath(), Version: -1},
		events.Op{Verb: "delete", Path: b.readyPath(), Version: b.version})
}

// relook reads the ready node that has replaced the one that let the member in, because others came
// later, and lists whether any of them is left.
func (b *doubleBarrier) relook(ev events.Event, out *engine.Outbox) {
	b.readyUnknown = true
	b.list(ev, out)
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

// askOwn asks whether the own node still exists: no watch reports the end of a node that may not be read.
func (b *doubleBarrier) askOwn(ev events.Event, out *engine.Outbox) {
	if b.own != "" {
		out.Exists(b.ownPath())
	}
}

// askOwnLater starts the timer of the next such question.
func (b *doubleBarrier) askOwnLater(ev events.Event, out *engine.Outbox) {
	if b.own != "" {
		out.StopTimer(b.recheck)
		b.recheck = recheckForeign(b.timeout, &b.jitter, out)
	}
}

// rewatch sets a watch on the member that is waited for.
func (b *doubleBarrier) rewatch(ev events.Event, out *engine.Outbox) {
	b.foreignNode = foreignNode{foreign: join(b.dir, b.others[0])}
	out.With(engine.Watch).Get(b.foreign)
	out.StopTimer(b.recheck)
	b.recheck = recheckForeign(b.timeout, &b.jitter, out)
}
