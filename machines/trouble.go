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

// trouble is what stands in the way, and the back-off.
type trouble struct {
	retry    Policy
	dice     dice
	code     events.Code // of what stands in the way; OK: nothing does
	text     string
	failures int
	failedAt int64
	quick    int  // terms in a row whose work failed or returned at once
	spent    bool // the retry policy gave up
}

// patience is the retry policy of whoever sets none.
var patience = BoundedExponential(-1, 250*time.Millisecond, 30*time.Second)

func newTrouble(open events.Event, o *options, usual Policy) trouble {
	return trouble{retry: o.policy("retry", usual), dice: newDice(open.Seed)}
}

// fail makes an error visible on the handle.
func (t *trouble) fail(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	t.code, t.text = code, text
	out.Notify(events.Notify{What: events.Failed, Session: ev.Session, Code: code, Text: text})
}

// attempt asks the policy for the pause before the next attempt; one that gives up
// means no pause.
func (t *trouble) attempt(ev events.Event) (d time.Duration, again bool) {
	if t.failures == 0 {
		t.failedAt = ev.At
	}
	d, again = t.retry.Next(t.failures, time.Duration(ev.At-t.failedAt), t.dice.roll())
	t.failures++
	return d, again
}

// complain keeps and tells what went wrong, and waits before the next attempt.
func (p *contender) complain(ev events.Event, out *engine.Outbox) {
	out.Forget()
	p.creating = 0
	p.unread(ev, out)
	code, text := ev.Code, ev.Text
	switch {
	case code == events.OK && p.failures < lateness:
		code, text = events.Unconfirmed, p.path()
	case code == events.OK:
		code, text = events.TimeoutTooShort, "confirmations come too late to believe in, one after the other"
	case text == "":
		text = cmp.Or(ev.Path, p.path())
	}
	p.announce(code, text, ev, out)
	p.backOff(ev, out)
}

// giveUp is complain of an attempt to have a place in line.
func (p *place) giveUp(ev events.Event, out *engine.Outbox) {
	p.line = line{}
	p.complain(p.blame(ev), out)
}

// backOff winds the pause; the policy may say that it was the last.
func (p *contender) backOff(ev events.Event, out *engine.Outbox) {
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
func (t *trouble) pace() time.Duration {
	d, again := t.retry.Next(t.quick, 0, t.dice.roll())
	if !again {
		d, _ = patience.Next(t.quick, 0, t.dice.roll())
	}
	return d
}

// wait asks the policy; one that gives up means no wait and the end.
func (p *contender) wait(ev events.Event) time.Duration {
	d, again := p.attempt(ev)
	if p.once() && !p.code.Passing() { // the caller was told, and asks again if they like
		d, again = 0, false
	}
	p.spent = !again
	return d
}

// persist is wait where giving up would leave a node behind.
func (p *contender) persist(ev events.Event) time.Duration {
	d := p.wait(ev)
	if p.spent {
		p.spent = false
		d, _ = patience.Next(p.failures, 0, p.dice.roll())
	}
	return d
}

// announce makes an error visible: on the handle, and to whoever awaits leadership.
func (p *contender) announce(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.fail(code, text, ev, out)
	p.tellPatron(events.Event{Kind: events.LatchFailed, Code: code, Text: text}, out)
	if !code.Passing() {
		p.refuseWaiters(code, text, out)
	}
}

func (t *term) refuseWaiters(code events.Code, text string, out *engine.Outbox) {
	for _, w := range t.waiters {
		out.Answer(w, code, text)
	}
	t.waiters = nil
}

// tellLost ends the wait of a selector that does not queue again, with the
// reason for which it lost leadership.
func (p *contender) tellLost(ev events.Event, out *engine.Outbox) {
	p.endOnce(events.LeadershipLost, reason(ev).String(), out)
}

// recover ends a trouble.
func (t *trouble) recover(out *engine.Outbox) {
	t.failures = 0
	if t.code != events.OK {
		t.code, t.text = events.OK, ""
		out.Notify(events.Notify{What: events.Recovered})
	}
}

// rejoin looks again after the obstruction went.
func (p *place) rejoin(ev events.Event, out *engine.Outbox) {
	p.recover(out)
	p.survey(ev, out)
}

// rejectOwn gives back a node that is not this session's, or whose token is below
// the floor. A foreign one that carries our GUID is a copy, and the one that it
// was copied from may still stand: it is looked for before anything is made.
func (p *place) rejectOwn(ev events.Event, out *engine.Outbox) {
	code, text := p.unfitness(ev)
	if code == events.ForeignOwner {
		p.sure = false // without a GUID, the owner is asked for once more, and decides
		p.unknown = p.naming.sure()
		if p.unknown && p.once() {
			p.own = "" // nothing comes after the deletion: both are found, and go
		}
	}
	p.reject(code, text, ev, out)
}

// unfitness is what is wrong with the own node.
func (n *node) unfitness(ev events.Event) (events.Code, string) {
	if !n.ours(ev) {
		return events.ForeignOwner, fmt.Sprintf("%s belongs to session 0x%x, and this is 0x%x", base(ev.Path), ev.Stat.EphemeralOwner, n.owner)
	}
	return events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", ev.Stat.Czxid, n.own, n.floor)
}

// rejectSequence gives back a place in a line whose counter is about to wrap.
func (p *place) rejectSequence(ev events.Event, out *engine.Outbox) {
	p.reject(events.CounterEnd, "the sequence counter of "+p.dir+" is at its end: delete and re-create the directory", ev, out)
}

func (p *place) reject(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.plan(rest)
	p.quick = 0
	p.announce(code, text, ev, out)
	if p.once() { // it ends by this
		p.refuseWaiters(code, text, out)
	}
	p.depart(ev, out)
}
