package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// term is belief, and the work done under it.
type term struct {
	leads   bool
	first   bool        // nobody is ahead: what is missing is a confirmation
	rideOut bool        // a disconnect does not end belief
	guards  []events.Op // what guarded writes begin with, where the own node's name is not its alone
	near    bool        // the session machine was told that we lead or are next in line
	works   int         // pieces of work that have not returned
	waiters []uint64
	since   int64 // when the term began
}

// takeOffice begins a term: belief, told once.
func (p *contender) takeOffice(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.leads, p.first = true, true
	if !p.naming.sure() {
		p.pinned = p.token
	}
	p.since = ev.At
	p.approach(out)
	p.recover(out)
	out.Notify(events.Notify{What: events.Elected, Session: ev.Session, Path: p.path(), Token: p.token, Guards: p.guards})
	p.tellPatron(events.Event{Kind: events.LatchHeld, Path: p.path()}, out)
	if p.runs() {
		p.works++
	}
	for _, waiter := range p.waiters {
		p.grantTo(waiter, ev, out)
	}
	p.waiters = nil
	p.tellRevoked(out)
}

// head begins a term: nobody is ahead in the line any more.
func (p *place) head(ev events.Event, out *engine.Outbox) {
	p.predecessor, p.next, p.behind = "", false, nil
}

// tellPatron lets the machine that opened this one know.
func (p *contender) tellPatron(ev events.Event, out *engine.Outbox) {
	if p.patron != "" {
		out.Tell(p.patron, ev)
	}
}

// tellWaits lets a patron know that somebody is ahead: one that does not rest on
// its latch's node, and has other things to see to meanwhile.
func (p *place) tellWaits(out *engine.Outbox) {
	if p.read == forNothing {
		p.tellPatron(events.Event{Kind: events.LatchWaits}, out)
	}
}

// grantTo gives one await its piece of work under the present term.
func (p *contender) grantTo(waiter uint64, ev events.Event, out *engine.Outbox) {
	p.works++
	out.Notify(events.Notify{What: events.Granted, Session: ev.Session, Path: p.path(), Token: p.token, Work: waiter})
}

func (p *contender) grant(ev events.Event, out *engine.Outbox) { p.grantTo(ev.Request, ev, out) }

// depose ends belief and tells it, once for every term.
func (p *contender) depose(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.sure = p.sure && p.works == 0 // nobody hears of the own node until the work returns
	if p.leads {
		p.leads, p.pinned = false, 0
		p.plan(p.then) // a hold does not come back
		out.Notify(events.Notify{What: events.Deposed, Session: ev.Session, Path: p.path(), Token: p.token, Silent: p.silent, Code: ev.Code, Reason: reason(ev)})
		if p.then != leave { // the patron asked for that end, and knows
			p.tellPatron(events.Event{Kind: events.LatchLost}, out)
		}
	}
}

// drain tells the machine itself when no work is left, and whoever gave up a place that is gone already.
func (p *contender) drain(out *engine.Outbox) {
	if p.works == 0 {
		if p.then == stay && p.own == "" {
			p.moved(out)
		}
		out.Tell(events.ID(p.id), events.Event{Kind: events.WorkDrained})
	}
}

// reason returns why an event ends belief.
func reason(ev events.Event) events.Reason {
	switch ev.Kind {
	case events.WatchDeleted, events.ReplyStat, events.ReplyChildren, events.ReplyMulti:
		return events.ReasonNodeGone
	case events.WatchChanged:
		return events.ReasonNodeChanged
	case events.ConnectionSuspended:
		return events.ReasonSuspended
	case events.ConnectionLost:
		return events.ReasonSessionOver
	case events.ConnectionUnconfirmed:
		return events.ReasonUnconfirmed
	case events.CommandResign:
		return events.ReasonResigned
	case events.CommandClose:
		return events.ReasonClosed
	case events.WorkReturned:
		return events.ReasonReturned
	}
	return events.Reason(ev.Kind)
}

// stepDown ends belief while the node may still be there.
func (p *contender) stepDown(ev events.Event, out *engine.Outbox) {
	p.depose(ev, out)
	p.unread(ev, out)
	p.tellLost(ev, out)
	p.drain(out)
}

// stepDownGone ends belief because the own node is gone.
func (p *contender) stepDownGone(ev events.Event, out *engine.Outbox) {
	p.depose(ev, out)
	p.forgetOwn(out)
	p.tellLost(ev, out)
	p.drain(out)
}

// stepDownSuspended ends belief with the connection.
func (p *contender) stepDownSuspended(ev events.Event, out *engine.Outbox) {
	p.depose(ev, out)
	p.unread(ev, out)
	p.endOnce(events.ConnectionLoss, outage, out)
	p.drain(out)
}

// stepDownLost ends belief with the session.
func (p *contender) stepDownLost(ev events.Event, out *engine.Outbox) {
	p.depose(ev, out)
	p.lose(ev, out)
	p.drain(out)
}

// workDone counts a piece of work that returned. A writer's that wishes to read
// on is told that nothing is held any more; see lower.
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
	case p.then == leave:
		out.Answer(ev.Request, events.Closed, "")
	case !p.code.Passing() && p.code != events.OK:
		out.Answer(ev.Request, p.code, p.text)
	default:
		p.waiters = append(p.waiters, ev.Request)
	}
}

// cancel takes an await back; one that was granted already is not there.
func (t *term) cancel(ev events.Event, out *engine.Outbox) {
	for i, w := range t.waiters {
		if w == ev.Work {
			t.waiters = append(t.waiters[:i], t.waiters[i+1:]...)
			out.Answer(w, events.Cancelled, "")
			return
		}
	}
}

// suspend is the end of a connection: nothing that was read counts any longer.
func (p *place) suspend(ev events.Event, out *engine.Outbox) {
	p.unread(ev, out)
	p.line = line{}
	if p.hungUp { // our own doing: it is no reason to give up
		p.hungUp = false
		return
	}
	p.endOnce(events.ConnectionLoss, outage, out)
}

// outage is why a selector that does not queue again ends with a connection.
const outage = "the connection was suspended"

// unread forgets what was read on a connection that is gone.
func (p *contender) unread(ev events.Event, out *engine.Outbox) {
	p.sure, p.owned, p.watched, p.first = false, false, false, false
}

// forgetLine forgets what was seen of the line and of the own node in it: after a
// term it is looked at again.
func (p *place) forgetLine(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.first = false, false, false
	p.line = line{}
}

// hush forgets what was asked on a connection that is gone.
func (n *node) hush(ev events.Event, out *engine.Outbox) { out.Forget() }

// lose is the end of the session: its node is gone or will go by itself.
func (p *contender) lose(ev events.Event, out *engine.Outbox) {
	out.Forfeit()
	p.forgetOwn(out)
	p.endOnce(events.SessionExpired, "the session expired", out)
	if p.then == requeue || p.then == rest {
		p.then = stay
		if p.works == 0 { // a resign returns when its work has
			p.moved(out)
		}
	}
}

// noteSession takes the session that the new connection belongs to.
func (n *node) noteSession(ev events.Event, out *engine.Outbox) {
	n.owner, n.sure = ev.SessionID, false
}

// attach is noteSession, after which missing parents may be made once more.
func (p *place) attach(ev events.Event, out *engine.Outbox) {
	p.noteSession(ev, out)
	p.afresh()
}

// settleCreate keeps in mind what a create that returned late has made.
func (p *place) settleCreate(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		p.register(ev, out)
	}
}

// depart makes sure that no node is left, as soon as there is a connection: it
// deletes the own node, or looks for it where the create's outcome is unknown.
func (p *place) depart(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.line, p.first = line{}, false
	switch {
	case !ev.Attached:
	case p.own != "" && !p.sure && !p.naming.sure():
		p.inquireOwn(ev, out)
	case p.own != "":
		out.Delete(p.path())
	case p.unknown:
		p.lookUp(ev, out)
	}
}

// retryDelete tries again a while after the server refused.
func (p *contender) retryDelete(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "delete "+p.path()+": "+string(ev.Code), ev, out)
	p.sure = false
	out.Timer("delete again", p.persist(ev))
}

// close notes who wants the contender gone, and tells those who wait.
func (p *contender) close(ev events.Event, out *engine.Outbox) {
	if p.then == idle && p.moving != 0 {
		out.Answer(p.moving, events.Closed, "") // the requeue that was promised
		p.moving = 0
	}
	p.then, p.silent = leave, ev.Silent
	p.closing = append(p.closing, ev.Request)
	p.refuseWaiters(events.Closed, "", out)
	p.moved(out)
}

func (p *contender) closeStepDown(ev events.Event, out *engine.Outbox) {
	p.close(ev, out)
	p.depose(ev, out)
	p.drain(out)
}

// finish is the end: the node is gone, and all who asked are told.
func (p *contender) finish(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.far(out)
	p.moved(out)
	for _, c := range p.closing {
		out.Answer(c, events.OK, "")
	}
	p.closing = nil
	p.tellPatron(events.Event{Kind: events.LatchClosed}, out)
}

// quit is the end that the retry policy brought: all who wait are told why.
func (p *contender) quit(ev events.Event, out *engine.Outbox) {
	p.then = leave
	p.refuseWaiters(p.code, p.text, out)
	if p.runs() {
		p.end, p.why = p.code, p.text
		p.tellEnd(out)
	}
}

// adoptDelete deletes every node of the enrolment that a listing shows. While
// there are several it lists again, once on each connection: nobody awaits the
// deletion of those behind the lowest, and a disconnect may swallow it.
func (p *place) adoptDelete(ev events.Event, out *engine.Outbox) {
	twins := p.twins(ev.Children)
	if p.twinned(ev) {
		p.discard(twins[1:], out)
		p.lookUp(ev, out)
		return
	}
	p.own, p.unknown = twins[0].Name, false
	p.depart(ev, out)
}

// lookAgain lists once more after a while, because the listing failed.
func (p *contender) lookAgain(ev events.Event, out *engine.Outbox) {
	p.announce(ev.Code, "list "+p.home+": "+string(ev.Code), ev, out)
	out.Timer("list again", p.persist(ev))
}

// moved answers the resign or requeue whose node is gone.
func (a *agenda) moved(out *engine.Outbox) {
	if a.moving != 0 {
		out.Answer(a.moving, events.OK, "")
		a.moving = 0
	}
}

// refuseStart, refuseResign answer what makes no sense in this state.
func (a *agenda) refuseStart(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.AlreadyStarted, "")
}

func (a *agenda) refuseResign(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotLeading, "")
}

// refuseLatent answers what needs a start first.
func (a *agenda) refuseLatent(ev events.Event, out *engine.Outbox) {
	out.Answer(ev.Request, events.NotStarted, "")
}

// resign gives leadership up for a new place at the tail.
func (p *contender) resign(ev events.Event, out *engine.Outbox) {
	p.then, p.moving = requeue, ev.Request
	p.depose(ev, out)
	p.drain(out)
}
