package machines

import (
	"cmp"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// forgetOwn ends an enrolment whose node is gone.
func (p *contender) forgetOwn(out *engine.Outbox) {
	p.dropHeartbeats(out)
	p.ownPath, p.token, p.sequence, p.owned, p.watched, p.ownerKnown, p.revoked = "", 0, 0, false, false, false, false
	p.creating, p.unknown, p.first = 0, false, false
}

// noteOwn notes the own node's stat. The guard has checked the owner.
func (p *contender) noteOwn(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.ownerKnown = true, true, true
	p.token = cmp.Or(p.inherited(), ev.Stat.Czxid)
	p.noteRevoke(ev, out)
}

// wantHeartbeats asks the session machine for heartbeats that check the own node.
func (p *contender) wantHeartbeats(out *engine.Outbox) {
	if !p.heartbeating {
		p.heartbeating = true
		owner := p.owner
		if p.naming.unique() {
			owner = 0
		}
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: p.id, Path: p.path(),
			SessionID: owner})
	}
}

// dropHeartbeats tells the session machine that the heartbeats are no longer needed.
func (p *contender) dropHeartbeats(out *engine.Outbox) {
	if p.heartbeating {
		p.heartbeating = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatUnneeded, Name: p.id})
	}
}

// seekConfirmation asks for a write through the quorum before a term begins: now, or when its answer
// will count.
func (p *contender) seekConfirmation(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.askConfirmation(ev, out)
}

// askConfirmation is seekConfirmation without dropping what is pending.
func (p *contender) askConfirmation(ev events.Event, out *engine.Outbox) {
	p.first = true
	if p.askedSince == 0 {
		p.askedSince = ev.At
	}
	if ev.AskAt > ev.At && p.settles(ev) {
		out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
		return
	}
	out.Multi(events.Check(p.path()))
}

// begin notes the session that exists at the start.
func (p *contender) begin(ev events.Event, out *engine.Outbox) {
	p.setOwner(ev)
	out.Answer(ev.Request, events.OK, "")
}

// announcePersistent reports a node in the line that no session owns: it is never deleted by itself.
func (p *contender) announcePersistent(ev events.Event, out *engine.Outbox) {
	p.announce(events.PersistentNode, ev.Path, ev, out)
}

// pause pauses before the next enrolment, because the node is gone. If only a copy of the node is
// gone, the same enrolment goes on after the pause, and looks for its node first.
func (p *contender) pause(ev events.Event, out *engine.Outbox) {
	out.DropPending() // a timer of the enrolment that has ended would end the pause
	copied := p.unknown && p.naming.unique()
	p.answerMove(out)
	p.forgetOwn(out)
	if copied {
		p.nextIntent, p.unknown = keepPlace, true
	}
	p.backOff(ev, out)
}

// beginTerm begins a term and notifies the handle, once.
func (p *contender) beginTerm(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.leads, p.first, p.askedSince = true, true, 0
	if !p.naming.unique() {
		p.pinned = p.token
	}
	p.since = ev.At
	p.wantHeartbeats(out)
	p.clearFailure(out)
	out.Notify(events.Notify{What: events.Elected, Session: ev.Session, Path: p.path(), Token: p.token,
		Guards: p.guards()})
	p.tellOpener(events.Event{Kind: events.LatchHeld, Path: p.path()}, out)
	if p.callsFunction() {
		p.works++
	}
	for c := p.takeCommands(leadership); c != nil; c = c.next {
		p.grantTo(c.number, ev, out)
	}
	p.tellRevoked(out)
}

// tellOpener sends an event to the opener, if a machine opened this one.
func (p *contender) tellOpener(ev events.Event, out *engine.Outbox) {
	if p.opener() != "" {
		out.Tell(p.opener(), ev)
	}
}

// grantTo grants one await its piece of work under the present term.
func (p *contender) grantTo(waiter uint64, ev events.Event, out *engine.Outbox) {
	p.works++
	out.Notify(events.Notify{What: events.Granted, Session: ev.Session, Path: p.path(), Token: p.token, Work: waiter})
}

// grant grants an await that comes while the machine leads.
func (p *contender) grant(ev events.Event, out *engine.Outbox) { p.grantTo(ev.Request, ev, out) }

// endTerm ends belief and notifies the handle, once for each term.
func (p *contender) endTerm(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.ownerKnown = p.ownerKnown && p.works == 0 // no news of the own node counts until the work returns
	if p.leads {
		p.leads, p.pinned = false, 0
		p.setIntent(p.nextIntent) // a hold has one term only
		out.Notify(events.Notify{What: events.Stopped, Session: ev.Session, Path: p.path(), Token: p.token,
			Silent: p.silent, Code: ev.Code, Reason: reason(ev), Paused: ownPause(ev)})
		if p.nextIntent != closeNext { // the opener asked for that end, and knows
			p.tellOpener(events.Event{Kind: events.LatchLost}, out)
		}
	}
}

// drain sends the machine an event if no work is left, and answers a resign or requeue if the place is
// gone already.
func (p *contender) drain(out *engine.Outbox) {
	if p.works == 0 {
		if p.nextIntent == keepPlace && p.ownPath == "" {
			p.answerMove(out)
		}
		out.Tell(events.ID(p.id), events.Event{Kind: events.WorkDrained})
	}
}

// stepDown ends belief while the node may still exist.
func (p *contender) stepDown(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.forgetReads(ev, out)
	p.tellLost(ev, out)
	p.drain(out)
}

// stepDownGone ends belief because the own node is gone.
func (p *contender) stepDownGone(ev events.Event, out *engine.Outbox) {
	p.advertised().leave(p.path(), p.owner, out)
	p.endTerm(ev, out)
	p.forgetOwn(out)
	p.tellLost(ev, out)
	p.pace(ev, out)
	p.drain(out)
}

// loseOwn forgets the own node, which somebody deleted.
func (p *contender) loseOwn(ev events.Event, out *engine.Outbox) {
	p.advertised().leave(p.path(), p.owner, out)
	p.forgetOwn(out)
	p.pace(ev, out)
}

// pace counts an own node that somebody deleted. If that happens again and again, the next enrolment
// waits, and a hold ends.
func (p *contender) pace(ev events.Event, out *engine.Outbox) { p.paceIn(p.ownDir, ev, out) }

// paceIn is pace for a node in another directory, which stands for the own one.
func (p *contender) paceIn(dir string, ev events.Event, out *engine.Outbox) {
	p.countDeletion(ev)
	if p.deletedAgain() && p.nextIntent == keepPlace {
		p.setIntent(letOthersPass)
		p.announce(events.DeletedAgain, dir, ev, out)
	}
}

// stepDownSuspended ends belief with the connection.
func (p *contender) stepDownSuspended(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.forgetReads(ev, out)
	p.endOnce(events.ConnectionLoss, suspendedText(ev), out)
	p.drain(out)
}

// stepDownLost ends belief with the session.
func (p *contender) stepDownLost(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.lose(ev, out)
	p.drain(out)
}

// workDone counts a piece of work that returned. If the work asks to downgrade a write lock, the
// answer is that the lock is no longer held: readWrite.downgrade handles those that are.
func (p *contender) workDone(ev events.Event, out *engine.Outbox) {
	p.works--
	p.workBroke = p.workBroke || ev.Text != ""
	if ev.Request != 0 {
		out.Answer(ev.Request, events.LeadershipLost, "")
	}
	if !p.leads {
		p.drain(out)
	}
}

// await queues an await, or answers it with the failure that keeps the machine from leading.
func (p *contender) await(ev events.Event, out *engine.Outbox) {
	switch s := p.series(); {
	case p.nextIntent == closeNext:
		out.Answer(ev.Request, events.Closed, "")
	case !s.code.Transient() && s.code != events.OK:
		out.Answer(ev.Request, s.code, s.text)
	default:
		p.addCommand(ev.Request, leadership)
	}
}

// forgetReads forgets what was read on a connection that has ended.
func (p *contender) forgetReads(ev events.Event, out *engine.Outbox) {
	p.ownerKnown, p.owned, p.watched, p.first, p.askedSince = false, false, false, false, 0
}

// lose handles the end of the session: its node is gone, or will be deleted by the ensemble.
func (p *contender) lose(ev events.Event, out *engine.Outbox) {
	out.DropCreates()
	p.forgetOwn(out)
	p.mayFollow = false
	p.endOnce(events.SessionExpired, "the session expired", out)
	if p.nextIntent == requeue || p.nextIntent == backOff {
		p.nextIntent = keepPlace
		if p.works == 0 { // a resign is answered when the work has returned
			p.answerMove(out)
		}
	}
}

// retryDelete deletes the node again after a pause, because the server refused.
func (p *contender) retryDelete(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "delete "+p.path()+": "+string(ev.Code), ev, out)
	p.ownerKnown = false
	out.Timer(deleteAgainTimer, p.backOffForever(ev))
}

// close notes the command that closes the contender, and refuses all awaits.
func (p *contender) close(ev events.Event, out *engine.Outbox) {
	if p.nextIntent == stayOut && p.move() != 0 {
		out.Answer(p.takeMove(), events.Closed, "") // the requeue that was to follow
	}
	p.nextIntent, p.silent = closeNext, ev.Silent
	p.addCommand(ev.Request, theEnd)
	p.refuseWaiters(events.Closed, "", out)
	p.answerMove(out)
}

// closeStepDown closes the contender while it leads.
func (p *contender) closeStepDown(ev events.Event, out *engine.Outbox) {
	p.close(ev, out)
	p.endTerm(ev, out)
	p.drain(out)
}

// finish answers all commands that wait for the end: the node is gone.
func (p *contender) finish(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.searchLeftover(ev, out)
	p.dropHeartbeats(out)
	p.answerMove(out)
	for c := p.takeCommands(theEnd); c != nil; c = c.next {
		out.Answer(c.number, events.OK, "")
	}
	p.tellOpener(events.Event{Kind: events.LatchClosed}, out)
}

// quit ends the contender because the retry policy gave up, and answers all awaits with the failure.
func (p *contender) quit(ev events.Event, out *engine.Outbox) {
	p.nextIntent = closeNext
	s := p.series()
	p.refuseWaiters(s.code, s.text, out)
	if p.callsFunction() {
		p.end = &failure{code: s.code, text: s.text}
		p.tellEnd(out)
	}
}

// lookAgain lists the line again after a pause, because the listing failed.
func (p *contender) lookAgain(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "list "+p.ownDir+": "+string(ev.Code), ev, out)
	out.Timer(listAgainTimer, p.backOffForever(ev))
}

// resign gives up leadership for a new place at the end of the line.
func (p *contender) resign(ev events.Event, out *engine.Outbox) {
	p.nextIntent = requeue
	p.addCommand(ev.Request, noOldPlace)
	p.endTerm(ev, out)
	p.drain(out)
}

// announce reports a failure to the handle and the opener. If it is not transient, all awaits are
// answered with it.
func (p *contender) announce(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.reportFailure(code, text, ev, out)
	p.tellOpener(events.Event{Kind: events.LatchFailed, Code: code, Text: text}, out)
	if !code.Transient() {
		p.refuseWaiters(code, text, out)
	}
}

// tellLost ends the wait of a selector that does not queue again, with the reason for which it lost
// leadership.
func (p *contender) tellLost(ev events.Event, out *engine.Outbox) {
	p.endOnce(events.LeadershipLost, lossText(ev), out)
}

// noteCaller notes the one caller, and the session that exists.
func (p *contender) noteCaller(ev events.Event, out *engine.Outbox) {
	p.setOwner(ev)
	p.addCommand(ev.Request, leadership)
}

// noteRevoke notes that somebody asks the holder to release the lock.
func (p *contender) noteRevoke(ev events.Event, out *engine.Outbox) {
	if p.read == forData && !p.revoked {
		p.revoked = string(ev.Data) == Revoke
		p.tellRevoked(out)
	}
}

// tellRevoked notifies a holder that it is asked to release the lock, or does so when it begins to
// hold.
func (p *contender) tellRevoked(out *engine.Outbox) {
	if p.revoked && p.leads {
		out.Notify(events.Notify{What: events.Revoked, Path: p.path()})
	}
}

// dropAllButCreate drops the requests of a connection that has ended, except the write that creates
// the own node: its outcome is unknown only once it has returned.
func (p *contender) dropAllButCreate(ev events.Event, out *engine.Outbox) {
	if p.creating == 0 {
		out.DropPending()
	}
	p.forgetReads(ev, out)
}

// tellSelfNodeGone sends the machine the event that no own node is left.
func (p *contender) tellSelfNodeGone(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(p.id), events.Event{Kind: events.NodeGone})
}

// endOnce ends the one term of a selector that does not queue again, or the wait for it. The handle is
// notified when the work has returned.
func (p *contender) endOnce(code events.Code, why string, out *engine.Outbox) {
	if p.after != stayOut || p.nextIntent != keepPlace || p.outOfLine {
		return
	}
	p.nextIntent, p.end = stayOut, &failure{code: code, text: why}
	if p.works == 0 {
		p.tellEnd(out)
	}
}

// searchLeftover opens the search for nodes of the attempt that is given up, if the server may create one later. If
// names have no GUID, that was done when a look had shown none.
func (p *contender) searchLeftover(ev events.Event, out *engine.Outbox) {
	if !p.mayFollow || !p.naming.unique() || ev.Kind == events.ConnectionLost {
		return
	}
	options := map[string]string{OptionGUID: p.guid}
	if p.named > 0 {
		options[OptionPermits] = strconv.Itoa(int(p.named))
	}
	p.search(p.id, p.ownDir, p.withAddress(options), out)
}
