package machines

import (
	"cmp"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// forgetOwn is the end of an enrolment whose node is gone.
func (p *contender) forgetOwn(out *engine.Outbox) {
	p.dropHeartbeats(out)
	p.own, p.token, p.sequence, p.owned, p.watched, p.ownerKnown, p.revoked = "", 0, 0, false, false, false, false
	p.creating, p.unknown, p.first = 0, false, false
}

// noteOwn takes the own node's stat: the owner was checked by the guard.
func (p *contender) noteOwn(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.ownerKnown = true, true, true
	p.token = cmp.Or(p.inherited, ev.Stat.Czxid)
	p.noteRevoke(ev, out)
}

// wantHeartbeats and far tell the session machine whether the heartbeat is needed.
func (p *contender) wantHeartbeats(out *engine.Outbox) {
	if !p.heartbeating {
		p.heartbeating = true
		owner := p.owner
		if p.naming.sure() {
			owner = 0
		}
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatWanted, Name: p.id, Path: p.path(), SessionID: owner})
	}
}

func (p *contender) dropHeartbeats(out *engine.Outbox) {
	if p.heartbeating {
		p.heartbeating = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.HeartbeatUnneeded, Name: p.id})
	}
}

// seekConfirmation asks for a write through the quorum before taking office: now,
// or when it is worth it.
func (p *contender) seekConfirmation(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.first = true
	if ev.AskAt > ev.At {
		out.Timer(confirmTimer, time.Duration(ev.AskAt-ev.At))
		return
	}
	out.Multi(events.Check(p.path()))
}

// begin takes the session that is there when the machine starts.
func (p *contender) begin(ev events.Event, out *engine.Outbox) {
	p.owner = ev.SessionID
	out.Answer(ev.Request, events.OK, "")
}

// announcePersistent is a node in the line that no session owns: it will never go by itself.
func (p *contender) announcePersistent(ev events.Event, out *engine.Outbox) {
	p.announce(events.PersistentNode, ev.Path, ev, out)
}

// pause waits before the next enrolment, the node being gone. Where only a copy
// of it is, the wait is for this enrolment's: it is looked for first.
func (p *contender) pause(ev events.Event, out *engine.Outbox) {
	copied := p.unknown && p.naming.sure()
	p.answerMove(out)
	p.forgetOwn(out)
	if copied {
		p.nextIntent, p.unknown = keepPlace, true
	}
	p.backOff(ev, out)
}

// beginTerm begins a term: belief, told once.
func (p *contender) beginTerm(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.leads, p.first = true, true
	if !p.naming.sure() {
		p.pinned = p.token
	}
	p.since = ev.At
	p.wantHeartbeats(out)
	p.clearFailure(out)
	out.Notify(events.Notify{What: events.Elected, Session: ev.Session, Path: p.path(), Token: p.token, Guards: p.guards})
	p.tellOpener(events.Event{Kind: events.LatchHeld, Path: p.path()}, out)
	if p.callsFunction() {
		p.works++
	}
	for _, waiter := range p.waiters {
		p.grantTo(waiter, ev, out)
	}
	p.waiters = nil
	p.tellRevoked(out)
}

// tellOpener lets the machine that opened this one know.
func (p *contender) tellOpener(ev events.Event, out *engine.Outbox) {
	if p.opener != "" {
		out.Tell(p.opener, ev)
	}
}

// grantTo gives one await its piece of work under the present term.
func (p *contender) grantTo(waiter uint64, ev events.Event, out *engine.Outbox) {
	p.works++
	out.Notify(events.Notify{What: events.Granted, Session: ev.Session, Path: p.path(), Token: p.token, Work: waiter})
}

func (p *contender) grant(ev events.Event, out *engine.Outbox) { p.grantTo(ev.Request, ev, out) }

// endTerm ends belief and tells it, once for every term.
func (p *contender) endTerm(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.ownerKnown = p.ownerKnown && p.works == 0 // nobody hears of the own node until the work returns
	if p.leads {
		p.leads, p.pinned = false, 0
		p.setIntent(p.nextIntent) // a hold does not come back
		out.Notify(events.Notify{What: events.Stopped, Session: ev.Session, Path: p.path(), Token: p.token, Silent: p.silent, Code: ev.Code, Reason: reason(ev)})
		if p.nextIntent != closeNext { // the patron asked for that end, and knows
			p.tellOpener(events.Event{Kind: events.LatchLost}, out)
		}
	}
}

// drain tells the machine itself if no work is left, and answers a command that gave up a place which is gone already.
func (p *contender) drain(out *engine.Outbox) {
	if p.works == 0 {
		if p.nextIntent == keepPlace && p.own == "" {
			p.answerMove(out)
		}
		out.Tell(events.ID(p.id), events.Event{Kind: events.WorkDrained})
	}
}

// stepDown ends belief while the node may still be there.
func (p *contender) stepDown(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.forgetReads(ev, out)
	p.tellLost(ev, out)
	p.drain(out)
}

// stepDownGone ends belief because the own node is gone.
func (p *contender) stepDownGone(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.forgetOwn(out)
	p.tellLost(ev, out)
	p.drain(out)
}

// stepDownSuspended ends belief with the connection.
func (p *contender) stepDownSuspended(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.forgetReads(ev, out)
	p.endOnce(events.ConnectionLoss, suspendedText, out)
	p.drain(out)
}

// stepDownLost ends belief with the session.
func (p *contender) stepDownLost(ev events.Event, out *engine.Outbox) {
	p.endTerm(ev, out)
	p.lose(ev, out)
	p.drain(out)
}

// workDone counts a piece of work that returned. If it asks to downgrade a write
// lock, the answer is that nothing is held any more: readWrite.lower is for one
// that is.
func (p *contender) workDone(ev events.Event, out *engine.Outbox) {
	p.works--
	if ev.Request != 0 {
		out.Answer(ev.Request, events.LeadershipLost, "")
	}
	if !p.leads {
		p.drain(out)
	}
}

// await queues a caller who wants to hear of leadership, or tells what stands
// in the way.
func (p *contender) await(ev events.Event, out *engine.Outbox) {
	switch {
	case p.nextIntent == closeNext:
		out.Answer(ev.Request, events.Closed, "")
	case !p.code.Transient() && p.code != events.OK:
		out.Answer(ev.Request, p.code, p.text)
	default:
		p.waiters = append(p.waiters, ev.Request)
	}
}

// forgetReads forgets what was read on a connection that is gone.
func (p *contender) forgetReads(ev events.Event, out *engine.Outbox) {
	p.ownerKnown, p.owned, p.watched, p.first = false, false, false, false
}

// lose is the end of the session: its node is gone or will go by itself.
func (p *contender) lose(ev events.Event, out *engine.Outbox) {
	out.DropCreates()
	p.forgetOwn(out)
	p.endOnce(events.SessionExpired, "the session expired", out)
	if p.nextIntent == requeue || p.nextIntent == backOff {
		p.nextIntent = keepPlace
		if p.works == 0 { // a resign returns when its work has
			p.answerMove(out)
		}
	}
}

// retryDelete tries again a while after the server refused.
func (p *contender) retryDelete(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "delete "+p.path()+": "+string(ev.Code), ev, out)
	p.ownerKnown = false
	out.Timer(deleteAgainTimer, p.backOffForever(ev))
}

// close notes who wants the contender gone, and tells those who wait.
func (p *contender) close(ev events.Event, out *engine.Outbox) {
	if p.nextIntent == stayOut && p.moveCommand != 0 {
		out.Answer(p.moveCommand, events.Closed, "") // the requeue that was promised
		p.moveCommand = 0
	}
	p.nextIntent, p.silent = closeNext, ev.Silent
	p.closing = append(p.closing, ev.Request)
	p.refuseWaiters(events.Closed, "", out)
	p.answerMove(out)
}

func (p *contender) closeStepDown(ev events.Event, out *engine.Outbox) {
	p.close(ev, out)
	p.endTerm(ev, out)
	p.drain(out)
}

// finish is the end: the node is gone, and all who asked are told.
func (p *contender) finish(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.dropHeartbeats(out)
	p.answerMove(out)
	for _, c := range p.closing {
		out.Answer(c, events.OK, "")
	}
	p.closing = nil
	p.tellOpener(events.Event{Kind: events.LatchClosed}, out)
}

// quit is the end that the retry policy brought: all who wait are told why.
func (p *contender) quit(ev events.Event, out *engine.Outbox) {
	p.nextIntent = closeNext
	p.refuseWaiters(p.code, p.text, out)
	if p.callsFunction() {
		p.end, p.why = p.code, p.text
		p.tellEnd(out)
	}
}

// lookAgain lists once more after a while, because the listing failed.
func (p *contender) lookAgain(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "list "+p.ownDir+": "+string(ev.Code), ev, out)
	out.Timer(listAgainTimer, p.backOffForever(ev))
}

// resign gives leadership up for a new place at the tail.
func (p *contender) resign(ev events.Event, out *engine.Outbox) {
	p.nextIntent, p.moveCommand = requeue, ev.Request
	p.endTerm(ev, out)
	p.drain(out)
}

// failAndBackOff keeps and tells what went wrong, and waits before the next attempt.
func (p *contender) failAndBackOff(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.creating = 0
	p.forgetReads(ev, out)
	code, text := ev.Code, ev.Text
	switch {
	case code == events.OK && p.failures < maxLateConfirmations:
		code, text = events.Unconfirmed, p.path()
	case code == events.OK:
		code, text = events.TimeoutTooShort, "confirmations come too late to believe in, one after the other"
	case text == "":
		text = cmp.Or(ev.Path, p.path())
	}
	p.announce(code, text, ev, out)
	p.backOff(ev, out)
}

// backOff winds the pause; the policy may say that it was the last.
func (p *contender) backOff(ev events.Event, out *engine.Outbox) {
	worked := p.nextIntent == backOff && p.quick > 0
	p.nextIntent = keepPlace
	if worked {
		out.Timer(backOffTimer, p.workBackOff())
		return
	}
	out.Timer(backOffTimer, p.wait(ev))
}

// wait asks the policy; one that gives up means no wait and the end.
func (p *contender) wait(ev events.Event) time.Duration {
	d, again := p.attempt(ev)
	if p.once() && !p.code.Transient() { // the caller was told, and asks again if they like
		d, again = 0, false
	}
	p.gaveUp = !again
	return d
}

// backOffForever is wait where giving up would leave a node behind.
func (p *contender) backOffForever(ev events.Event) time.Duration {
	d := p.wait(ev)
	if p.gaveUp {
		p.gaveUp = false
		d, _ = defaultRetry.Next(p.failures, 0, p.dice.next())
	}
	return d
}

// announce makes an error visible: on the handle, and to whoever awaits leadership.
func (p *contender) announce(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.reportFailure(code, text, ev, out)
	p.tellOpener(events.Event{Kind: events.LatchFailed, Code: code, Text: text}, out)
	if !code.Transient() {
		p.refuseWaiters(code, text, out)
	}
}

// tellLost ends the wait of a selector that does not queue again, with the
// reason for which it lost leadership.
func (p *contender) tellLost(ev events.Event, out *engine.Outbox) {
	p.endOnce(events.LeadershipLost, reason(ev).String(), out)
}

// noteCaller notes the one caller, and the session that is there.
func (p *contender) noteCaller(ev events.Event, out *engine.Outbox) {
	p.owner = ev.SessionID
	p.waiters = append(p.waiters, ev.Request)
}

// noteRevoke tells once for each term that somebody asks for the lock.
func (p *contender) noteRevoke(ev events.Event, out *engine.Outbox) {
	if p.read == forData && !p.revoked {
		p.revoked = string(ev.Data) == Revoke
		p.tellRevoked(out)
	}
}

// tellRevoked tells a holder; one that still waits is told when it holds.
func (p *contender) tellRevoked(out *engine.Outbox) {
	if p.revoked && p.leads {
		out.Notify(events.Notify{What: events.Revoked, Path: p.path()})
	}
}

// dropAllButCreate forgets what was asked on a connection that is gone, but for the write
// that makes the own node: its outcome is unknown only once it has returned.
func (p *contender) dropAllButCreate(ev events.Event, out *engine.Outbox) {
	if p.creating == 0 {
		out.DropPending()
	}
	p.forgetReads(ev, out)
}

// tellSelfNodeGone tells the machine itself that no node of its own is left.
func (p *contender) tellSelfNodeGone(ev events.Event, out *engine.Outbox) {
	out.Tell(events.ID(p.id), events.Event{Kind: events.NodeGone})
}

// endOnce ends the one term that such a selector was to have, or the wait for
// it. The end is told when the work has returned.
func (p *contender) endOnce(code events.Code, why string, out *engine.Outbox) {
	if p.after != stayOut || p.nextIntent != keepPlace {
		return
	}
	p.nextIntent, p.end, p.why = stayOut, code, why
	if p.works == 0 {
		p.tellEnd(out)
	}
}

func (p *contender) tellEnd(out *engine.Outbox) {
	out.Notify(events.Notify{What: events.Ended, Code: p.end, Text: p.why})
	p.end, p.why = events.OK, ""
}
