package machines

import (
	"cmp"
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// lateness is how many confirmations in a row may come too late before that is
// no passing slowness any more, and whoever awaits leadership is told.
const lateness = 3

// complain keeps and tells what went wrong, and waits before the next attempt.
func (p *participant) complain(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.creating = 0
	p.unread(ev, out)
	ev = p.blame(ev)
	code, text := ev.Code, ev.Text
	switch {
	case code == events.OK && p.failures < lateness:
		code, text = events.Unconfirmed, p.path()
	case code == events.OK:
		code, text = events.TimeoutTooShort, "confirmations come too late to believe in, one after the other"
	case text == "":
		text = cmp.Or(ev.Path, p.path())
	}
	p.fail(code, text, ev, out)
	p.backOff(ev, out)
}

// backOff winds the pause; the policy may say that it was the last.
func (p *participant) backOff(ev events.Event, out *engine.Outbox) {
	worked := p.then == rest && p.quick > 0
	p.then = stay
	if worked {
		out.Timer("back-off", p.pace())
		return
	}
	out.Timer("back-off", p.wait(ev))
}

// pace is the pause after work that failed or returned at once. It goes by the
// policy, but never ends: such work is no reason to leave the line.
func (p *participant) pace() time.Duration {
	d, again := p.retry.Next(p.quick, 0, p.dice.roll())
	if !again {
		d, _ = patience.Next(p.quick, 0, p.dice.roll())
	}
	return d
}

// wait asks the policy; one that gives up means no wait and the end.
func (p *participant) wait(ev events.Event) time.Duration {
	if p.failures == 0 {
		p.failedAt = ev.At
	}
	d, again := p.retry.Next(p.failures, time.Duration(ev.At-p.failedAt), p.dice.roll())
	p.failures++
	if p.single && !p.trouble.Passing() { // the caller was told, and asks again if they like
		d, again = 0, false
	}
	p.spent = !again
	return d
}

// persist is wait where giving up would leave a node behind.
func (p *participant) persist(ev events.Event) time.Duration {
	d := p.wait(ev)
	if p.spent {
		p.spent = false
		d, _ = patience.Next(p.failures, 0, p.dice.roll())
	}
	return d
}

// fail makes an error visible: on the handle, and to whoever awaits leadership.
func (p *participant) fail(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.trouble, p.words = code, text
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: code, Text: text})
	p.tellPatron(events.Event{Kind: events.LatchFailed, Code: code, Text: text}, out)
	if !code.Passing() {
		p.refuseWaiters(code, text, out)
	}
}

func (p *participant) refuseWaiters(code events.Code, text string, out *engine.Outbox) {
	for _, w := range p.waiters {
		out.Answer(w, code, text)
	}
	p.waiters = nil
}

// tellLost ends the wait of a selector that does not queue again, with the
// reason for which it lost leadership.
func (p *participant) tellLost(ev events.Event, out *engine.Outbox) {
	p.endOnce(events.LeadershipLost, reason(ev).String(), out)
}

// recover ends a trouble.
func (p *participant) recover(out *engine.Outbox) {
	p.failures = 0
	if p.trouble != events.OK {
		p.trouble, p.words = events.OK, ""
		out.Notify(events.Notify{What: events.Recovered})
	}
}

// rejoin looks again after the obstruction went.
func (p *participant) rejoin(ev events.Event, out *engine.Outbox) {
	p.recover(out)
	p.survey(ev, out)
}

// rejectOwn gives back a node that is not this session's, or whose token is below
// the floor. A foreign one that carries our GUID is a copy, and the one that it
// was copied from may still stand: it is looked for before anything is made.
func (p *participant) rejectOwn(ev events.Event, out *engine.Outbox) {
	code, text := p.unfitness(ev)
	if code == events.ForeignOwner {
		p.sure = false // without a GUID, the owner is asked for once more, and decides
		p.unknown = !p.plain
		if p.unknown && p.single {
			p.own = "" // nothing comes after the deletion: both are found, and go
		}
	}
	p.reject(code, text, ev, out)
}

// unfitness is what is wrong with the own node.
func (p *participant) unfitness(ev events.Event) (events.Code, string) {
	if !p.ours(ev) {
		return events.ForeignOwner, fmt.Sprintf("%s belongs to session 0x%x, and this is 0x%x", base(ev.Path), ev.Stat.EphemeralOwner, p.owner)
	}
	return events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", ev.Stat.Czxid, p.own, p.floor)
}

// rejectSequence gives back a place in a line whose counter is about to wrap.
func (p *participant) rejectSequence(ev events.Event, out *engine.Outbox) {
	p.reject(events.CounterEnd, "the sequence counter of "+p.dir+" is at its end: delete and re-create the directory", ev, out)
}

func (p *participant) reject(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.plan(rest)
	p.quick = 0
	p.fail(code, text, ev, out)
	if p.single { // it ends by this
		p.refuseWaiters(code, text, out)
	}
	p.depart(ev, out)
}
