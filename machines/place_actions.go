package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// closesWithoutNode is a closing contender without a node.
func (p *place) closesWithoutNode(events.Event) bool {
	return p.nextIntent == closeNext && !p.mayHaveNode(events.Event{})
}

// deletedNotClosing is the own node, deleted, of a machine that does not close.
func (p *place) deletedNotClosing(ev events.Event) bool {
	return p.deleted(ev) && p.nextIntent != closeNext
}

// recovered is a lost create, found in the listing.
func (p *place) recovered(ev events.Event) bool {
	return p.unknown && ev.Code == events.OK && len(p.duplicates(ev.Children)) > 0
}

// notMade is a lost create that a synced listing does not show.
func (p *place) notMade(ev events.Event) bool {
	return p.unknown && (ev.Code == events.NoNode || ev.Code == events.OK && len(p.duplicates(ev.Children)) == 0)
}

// refusedClosing is a create that made nothing, while closing.
func (p *place) refusedClosing(ev events.Event) bool {
	return ev.Code != events.OK && !ev.Code.Unknown() && p.nextIntent == closeNext
}

// notMadeClosing is absent while closing.
func (p *place) notMadeClosing(ev events.Event) bool {
	return p.notMade(ev) && p.nextIntent == closeNext
}

// enrol begins a new enrolment: a new GUID, and one create under it.
func (p *place) enrol(ev events.Event, out *engine.Outbox) {
	p.forgetOwn(out)
	p.line = line{}
	p.count++
	p.guid = p.naming.fresh(p.seed, p.count)
	p.nextIntent = keepPlace
	p.answerMove(out)
	p.create(ev, out)
}

// create asks for the own node under the enrolment's GUID.
func (p *place) create(ev events.Event, out *engine.Outbox) {
	p.resetParents()
	p.sendCreate(out)
}

// createWithParents asks for the missing parents, and for the own node behind them.
func (p *place) createWithParents(ev events.Event, out *engine.Outbox) {
	p.makeParents(ev, out)
	p.sendCreate(out)
}

func (p *place) sendCreate(out *engine.Outbox) {
	p.unknown = false
	p.creating = out.Create(events.Op{Path: join(p.dir, ownPrefix(p.guid, p.label)), Mode: events.EphemeralSequential, Data: p.data})
}

// noteCreated takes the node that a create made.
func (p *place) noteCreated(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown, p.willDisconnect = 0, false, false
	p.own, p.token, p.ownerKnown = base(ev.Path), ev.Zxid, true
	place, _ := ParsePlace(p.own, p.label)
	p.sequence = place.Sequence
}

// adopt takes the lowest of the own GUID's nodes and removes the others.
func (p *place) adopt(ev events.Event, out *engine.Outbox) {
	twins := p.duplicates(ev.Children)
	p.discard(twins[1:], out)
	p.creating, p.unknown = 0, false
	if p.own != twins[0].Name {
		p.dropHeartbeats(out) // the heartbeat shall not go on checking a node that is deleted
		p.own, p.token, p.sequence, p.owned, p.watched = twins[0].Name, 0, twins[0].Sequence, false, false
	}
	p.listLine(ev, out)
}

// discard removes nodes of the own GUID besides the lowest.
func (p *place) discard(twins []Place, out *engine.Outbox) {
	for _, t := range twins {
		out.With(engine.Unawaited).Delete(join(p.dir, t.Name))
	}
	p.purged = true
}

// duplicates are the places that carry the enrolment's GUID, lowest first; of a name
// without one, all others without.
func (p *place) duplicates(children []string) []Place {
	return ofGUID(children, p.guid, p.lineLabels...)
}

// suspend is the end of a connection: nothing that was read counts any longer.
func (p *place) suspend(ev events.Event, out *engine.Outbox) {
	p.forgetReads(ev, out)
	p.line = line{}
	if p.willDisconnect { // our own doing: it is no reason to give up
		p.willDisconnect = false
		return
	}
	p.endOnce(events.ConnectionLoss, suspendedText, out)
}

// attach is noteSession, after which missing parents may be made once more.
func (p *place) attach(ev events.Event, out *engine.Outbox) {
	p.noteSession(ev, out)
	p.resetParents()
}

// settleCreate keeps in mind what a create that returned late has made.
func (p *place) settleCreate(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown = 0, ev.Code.Unknown()
	if ev.Code == events.OK {
		p.noteCreated(ev, out)
	}
}

// deleteOwn makes sure that no node is left, as soon as there is a connection: it
// deletes the own node, or looks for it where the create's outcome is unknown.
func (p *place) deleteOwn(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.line, p.first = line{}, false
	switch {
	case !ev.Attached:
	case p.own != "" && !p.ownerKnown && !p.naming.sure():
		p.askOwner(ev, out)
	case p.own != "":
		out.Delete(p.path())
	case p.unknown:
		p.lookUp(ev, out)
	}
}

// adoptDelete deletes every node of the enrolment that a listing shows. While
// there are several it lists again, once on each connection: nobody awaits the
// deletion of those behind the lowest, and a disconnect may swallow it.
func (p *place) adoptDelete(ev events.Event, out *engine.Outbox) {
	twins := p.duplicates(ev.Children)
	if p.hasDuplicates(ev) {
		p.discard(twins[1:], out)
		p.lookUp(ev, out)
		return
	}
	p.own, p.unknown = twins[0].Name, false
	p.deleteOwn(ev, out)
}

// giveUp ends an attempt to have a place in line: the next one comes after a pause.
func (p *place) giveUp(ev events.Event, out *engine.Outbox) {
	p.line = line{}
	p.failAndBackOff(p.rootCause(ev), out)
}

// rejectOwn gives back a node that is not this session's, or whose token is below
// the floor. A foreign one that carries our GUID is a copy, and the one that it
// was copied from may still stand: it is looked for before anything is made.
func (p *place) rejectOwn(ev events.Event, out *engine.Outbox) {
	code, text := p.rejection(ev)
	if code == events.ForeignOwner {
		p.ownerKnown = false // without a GUID, the owner is asked for once more, and decides
		p.unknown = p.naming.sure()
		if p.unknown && p.once() {
			p.own = "" // nothing comes after the deletion: both are found, and go
		}
	}
	p.reject(code, text, ev, out)
}

func (p *place) reject(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.setIntent(backOff)
	p.quick = 0
	p.announce(code, text, ev, out)
	if p.once() { // it ends by this
		p.refuseWaiters(code, text, out)
	}
	p.deleteOwn(ev, out)
}
