package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// flight is an enrolment in one flight. The listing of the line is sent right behind the create of the
// own node, on the same connection. So the listing shows that node and every place with a lower number,
// and a term may begin with it. The own node is read back, with a watch, right after, or, once a term has
// begun, ownWatchDelay later: most short terms are over by then, and need no watch.
type flight struct {
	oneFlight bool // it is allowed
	readBack  bool // this client has read back a node of its own in the directory
}

// ownWatchDelay is how long after the beginning of a term the own node is read back, if the term began
// with the listing behind the create. A deletion by others is noticed that much later in a term's first
// moments. It is at most a fortieth of the session timeout.
const ownWatchDelay = 50 * time.Millisecond

// newFlight returns the flight of a place whose machine is opened by an event. A client that may not
// read its own nodes would lead for one round trip each time, so it has to read one back first.
func newFlight(open events.Event, o *options) flight {
	return flight{oneFlight: o.flag(OptionOneFlight), readBack: open.ReadBack}
}

// sendListing sends the listing behind the create, if the enrolment is to be in one flight.
func (p *position) sendListing(out *engine.Outbox) {
	p.behindCreate = 0
	if p.oneFlight && p.naming.unique() && (p.readBack || p.read == notRead) {
		p.behindCreate = out.Children(p.ownDir)
	}
}

// lineUp goes on to the listing behind the create. If none was sent, it sends one.
func (p *position) lineUp(ev events.Event, out *engine.Outbox) {
	if p.behindCreate == 0 {
		p.listLine(ev, out)
		return
	}
	p.line, p.first = line{equals: p.equals, purged: p.purged, behindCreate: p.behindCreate}, false
}

// dropListing drops the listing that was answered before the create in front of it: it may not show
// the own node, or places ahead of it.
func (p *position) dropListing(ev events.Event, out *engine.Outbox) {
	if ev.Request == p.behindCreate {
		p.behindCreate = 0
	}
}

// inFlightOf reports whether an event is the listing behind the own create.
func (p *position) inFlightOf(ev events.Event) bool {
	return p.behindCreate != 0 && ev.Kind == events.ReplyChildren && ev.Request == p.behindCreate
}

// createdAhead reports whether the own node needs no reading before a listing counts: it was read back,
// or the listing was behind its create, whose answer has its token.
func (p *position) createdAhead(ev events.Event) bool {
	return p.ownVerified() || p.inFlightOf(ev) && p.token >= p.tokenFloor()
}

// readUnread reads the own node back after the listing behind its create.
func (p *position) readUnread(ev events.Event, out *engine.Outbox) {
	if p.inFlightOf(ev) {
		p.behindCreate = 0
		if !p.ownVerified() {
			p.readOwn(out)
		}
	}
}

// watchOwnLater has the own node read back a little later: a term has begun with the listing behind its
// create. The timer ends with the term.
func (p *position) watchOwnLater(out *engine.Outbox) {
	p.behindCreate = 0
	if !p.ownVerified() {
		out.Timer(ownWatchTimer, min(ownWatchDelay, slackOf(p.timeout)))
	}
}

// watchOwn reads the own node back, with a watch, because the term has lasted for ownWatchDelay.
func (p *position) watchOwn(ev events.Event, out *engine.Outbox) { p.readOwn(out) }

// confirmFirst asks for a confirmation of a place that is first in the line.
func (p *position) confirmFirst(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.readUnread(ev, out)
	p.askConfirmation(ev, out)
	p.notifyPassedOver(ev, out)
}

// noteReadBack notes that this client may read its own nodes in the directory, and tells the session
// machine, which tells the machines that are opened later. The token has to be the node's czxid: then
// the answer to a create is enough to know it.
func (p *position) noteReadBack(ev events.Event, out *engine.Outbox) {
	if p.oneFlight && !p.readBack && p.naming.unique() && p.token == ev.Stat.Czxid {
		p.readBack = true
		out.Tell(events.SessionMachine, events.Event{Kind: events.NodeReadBack, Path: p.ownDir})
	}
}

// noteUnreadable notes that the own node could not be read, so that no enrolment is in one flight until
// one can.
func (p *position) noteUnreadable(ev events.Event, out *engine.Outbox) {
	if p.readBack && ev.Kind == events.ReplyStat && p.mine(ev.Path) && ev.Code.Refusal() {
		p.readBack = false
		out.Tell(events.SessionMachine, events.Event{Kind: events.NodeReadBack, Path: p.ownDir, Code: ev.Code})
	}
}
