package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// standingRows are those of the recipes that stand in a line for as long as they
// are open, and come back to it after every term: the latch and the selector.
var standingRows = []engine.Row[place]{
	{From: from{latent}, On: events.CommandStart, When: (*place).attached, To: enrolling, Do: (*place).begin, Then: (*place).enrol},
	{From: from{latent}, On: events.CommandStart, To: suspended, Do: (*place).begin},
	{From: live, On: events.CommandStart, To: engine.Stay, Do: (*place).refuseStart},

	{From: from{waiting, blocked}, On: events.ReplyStat, When: (*place).persistent, To: blocked, Do: (*place).obstruct},

	{From: from{leaving}, On: events.ReplyDelete, When: (*place).deletedReturning, To: deciding, Do: (*place).noteGone},
	{From: from{deciding}, On: engine.AtOnce, When: (*place).rests, To: pausing, Do: (*place).pause},
}

// begin takes the session that is there when the machine starts.
func (p *contender) begin(ev events.Event, out *engine.Outbox) {
	p.owner = ev.SessionID
	out.Answer(ev.Request, events.OK, "")
}

// obstruct is a node in the line that no session owns: it will never go by itself.
func (p *contender) obstruct(ev events.Event, out *engine.Outbox) {
	p.announce(events.PersistentNode, ev.Path, ev, out)
}

// pause waits before the next enrolment, the node being gone. Where only a copy
// of it is, the wait is for this enrolment's: it is looked for first.
func (p *contender) pause(ev events.Event, out *engine.Outbox) {
	copied := p.unknown && p.naming.sure()
	p.moved(out)
	p.forgetOwn(out)
	if copied {
		p.then, p.unknown = stay, true
	}
	p.backOff(ev, out)
}

// leavesEmpty is a closing contender without a node.
func (p *place) leavesEmpty(events.Event) bool {
	return p.then == leave && !p.entangled(events.Event{})
}

// noteGone is the own node, gone by our own hand.
func (n *node) noteGone(ev events.Event, out *engine.Outbox) { n.own = "" }

// rests is a contender that waits out a back-off next, its node being gone.
func (p *contender) rests(events.Event) bool { return p.then == rest && p.own == "" }

// deletedReturning is deleted by whoever does not close.
func (p *place) deletedReturning(ev events.Event) bool { return p.deleted(ev) && p.then != leave }
