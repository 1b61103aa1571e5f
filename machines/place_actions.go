package machines

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// closesWithoutNode reports whether the contender is closing and surely has no node.
func (p *place) closesWithoutNode(events.Event) bool {
	return p.nextIntent == closeNext && !p.mayHaveNode(events.Event{})
}

// noteNoneMade notes that the create created nothing, so there is no node to delete.
func (p *place) noteNoneMade(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown = 0, false
	if ev.Kind == events.ReplyChildren {
		p.searchPlain(ev, out)
	}
}

// enrol begins a new enrolment: a new GUID, and one create under it. After a create that was refused the GUID stays: if
// the server has carried that one out nevertheless, the listing shows both nodes.
func (p *place) enrol(ev events.Event, out *engine.Outbox) {
	p.forgetOwn(out)
	p.line = line{}
	if !p.createRefused {
		p.renew(ev, out)
	}
	p.createRefused = false
	p.nextIntent = keepPlace
	p.answerMove(out)
	p.create(ev, out)
}

// renew draws a new GUID, and has nodes of the last one searched for that the server may still create.
func (p *place) renew(ev events.Event, out *engine.Outbox) {
	p.searchLeftover(ev, out)
	p.count++
	p.guid = p.naming.fresh(p.seed, uint64(p.count))
}

// create creates the own node under the enrolment's GUID. If a look has shown no node of it, and the server may still
// create one, it has another GUID.
func (p *place) create(ev events.Event, out *engine.Outbox) {
	if p.mayFollow && ev.Kind == events.ReplyChildren {
		p.searchPlain(ev, out)
		p.renew(ev, out)
	}
	p.resetParents()
	p.sendCreate(ev, out)
}

// parentMissing reports whether the own create found no parent, and the parent can be created. The
// root cannot, nor what could not be created a moment ago.
func (p *place) parentMissing(ev events.Event) bool { return p.missingAbove(p.ownDir, ev) }

// createWithParents creates the missing parents, and the own node behind them.
func (p *place) createWithParents(ev events.Event, out *engine.Outbox) {
	out.DropPending() // a listing behind the create that was refused
	if p.advertised() == nil {
		p.makeAbove(p.ownDir, ev, out)
	} else {
		p.makeAbove(p.ownDir, ev, out, addresses(p.ownDir))
	}
	p.sendCreate(ev, out)
}

// sendCreate sends the create of the own node, and perhaps the listing behind it.
func (p *place) sendCreate(ev events.Event, out *engine.Outbox) {
	p.createdAt = ev.At
	p.unknown = false
	own := events.Op{Path: join(p.ownDir, ownPrefix(p.guid, p.label)), Mode: events.EphemeralSequential, Data: p.data}
	if p.advertised() == nil {
		p.creating = out.Create(own)
	} else {
		p.advertised().removeLeft(p.owner, out)
		p.creating = out.CreateWith(p.advertised().with(own.Path, p.owner), own)
	}
	p.sendListing(out)
}

// noteCreated notes the node that a create made.
func (p *place) noteCreated(ev events.Event, out *engine.Outbox) {
	p.creating, p.unknown, p.round = 0, false, nil
	p.ownPath = ev.Path
	p.token, p.ownerKnown = ev.Zxid, true
	if p.ownerSearch != nil {
		p.anothers = false
	}
	if i := strings.LastIndex(p.ownPath, p.guid); i >= 0 {
		p.guid = p.ownPath[i:][:len(p.guid)] // the same, without a string of its own
	}
	place, _ := ParsePlace(p.own(), p.label)
	p.sequence = place.Sequence
	p.advertised().settle()
}

// adopt keeps the lowest node with the own GUID and deletes the others.
func (p *place) adopt(ev events.Event, out *engine.Outbox) {
	found := p.duplicates(ev.Children)
	p.discard(found[1:], out)
	p.creating, p.unknown = 0, false
	if p.own() != found[0].Name {
		p.dropHeartbeats(out) // the heartbeat must not check a deleted node any more
		p.setOwn(found[0].Name)
		p.token, p.sequence, p.owned, p.watched = 0, found[0].Sequence, false, false
	}
	p.listLine(ev, out)
}

// suspend handles the end of a connection: what was read on it does not count any more.
func (p *place) suspend(ev events.Event, out *engine.Outbox) {
	p.forgetReads(ev, out)
	p.line = line{}
	if p.hasDisconnected() { // the own request for containers caused it: no reason to give up
		return
	}
	p.endOnce(events.ConnectionLoss, suspendedText(ev), out)
}

// attach notes the session of the new connection. Missing parents may be created once more.
func (p *place) attach(ev events.Event, out *engine.Outbox) {
	p.noteSession(ev, out)
	p.resetParents()
	p.advertised().doubt()
}

// wake ends a pause after a failure early.
func (p *place) wake(ev events.Event, out *engine.Outbox) {
	if ev.Kind == events.ConnectionAttached {
		p.attach(ev, out)
	}
	p.endPause(ev, out)
}

// settleCreate notes what a create that returned late has done.
func (p *place) settleCreate(ev events.Event, out *engine.Outbox) {
	p.creating = 0
	p.noteAttempt(ev)
	if ev.Code == events.OK {
		p.noteCreated(ev, out)
	}
}

// deleteOwn makes sure that no own node is left, as soon as there is a connection. It deletes the
// node, or looks for it if the create's outcome is unknown.
func (p *place) deleteOwn(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.line, p.first = line{}, false
	switch {
	case !ev.Attached:
	case p.ownPath != "" && !p.ownerKnown && !p.naming.unique():
		p.askOwner(ev, out)
	case p.ownPath != "":
		p.advertised().remove(p.path(), p.owner, out)
		out.Delete(p.path())
	case p.unknown:
		p.lookUp(ev, out)
	}
}

// adoptDelete deletes every node of the enrolment that a listing shows. While there are several it
// lists again, once on each connection: the machine does not wait for the deletion of those behind the
// lowest, and a disconnect may prevent it.
func (p *place) adoptDelete(ev events.Event, out *engine.Outbox) {
	found := p.duplicates(ev.Children)
	if p.hasDuplicates(ev) {
		p.discard(found[1:], out)
		p.lookUp(ev, out)
		return
	}
	p.setOwn(found[0].Name)
	p.unknown = false
	p.deleteOwn(ev, out)
}

// giveUp ends an attempt to get a place in line. The next one follows after a pause.
func (p *place) giveUp(ev events.Event, out *engine.Outbox) {
	p.line = line{}
	p.createRefused = p.creating != 0 && ev.Request == p.creating && !ev.Code.Unknown() && ev.Code != events.NodeExists
	p.noteUnreadable(ev, out)
	p.failAndBackOff(p.causeAbove(p.ownDir, ev), out)
}

// rejectOwn gives up a node that another session owns, or whose token is below the floor. A node of
// another session with the own GUID is a copy, and the original may still exist: it is looked for
// before anything is created.
func (p *place) rejectOwn(ev events.Event, out *engine.Outbox) {
	code, text := p.rejection(ev)
	if code == events.ForeignOwner {
		// Without a GUID, the owner is read again before the node is deleted.
		p.ownerKnown, p.unknown = false, p.naming.unique()
		if !p.naming.unique() {
			p.anothers = true
		}
		if p.unknown && p.once() {
			p.ownPath = "" // nothing follows the deletion: the listing finds both, and both are deleted
		}
	}
	p.reject(code, text, ev, out)
}

// reject gives up a place, reports why, and pauses before the next enrolment.
func (p *place) reject(code events.Code, text string, ev events.Event, out *engine.Outbox) {
	p.setIntent(backOff)
	p.noteWork(0, 0)
	p.announce(code, text, ev, out)
	if p.once() { // the hold ends with this
		p.refuseWaiters(code, text, out)
	}
	p.deleteOwn(ev, out)
}

// rejectSequence gives up a place in a line whose counter is about to wrap.
func (p *place) rejectSequence(ev events.Event, out *engine.Outbox) {
	p.reject(events.CounterEnd,
		"the sequence counter of "+p.ownDir+" is at its end: delete and re-create the directory", ev, out)
}

// suspendWaiting is suspend for a place that is further back. It keeps the predecessor's name, and nothing else that it
// has seen.
func (p *place) suspendWaiting(ev events.Event, out *engine.Outbox) {
	predecessor := p.predecessor
	p.suspend(ev, out)
	p.predecessor = predecessor
}
