package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A place waits again after an outage in which its session went on: behind the same predecessor, without
// a listing. Otherwise n places in one line would read n names each, all at once, whenever the servers
// are restarted.
//
// It is sound because numbers only grow while the own node exists: no place can come between the two,
// and the predecessor stays ahead until it is deleted. Nobody leads by it: nextInLine is false, so the
// place lists the line before it leads.

// isFurtherBack reports whether a waiting place may wait again behind the same predecessor. The next in
// line lists the line, which is one listing, so that it can later take over without a request: it is
// the one that sends heartbeats. A place also lists the line where its last listing had something
// to settle: a hidden predecessor, places with the own number, or further nodes with the own GUID,
// whose deletion may have been lost.
func (p *position) isFurtherBack(events.Event) bool {
	return p.predecessor != "" && !p.heartbeating && !p.hidden && !p.purged && len(p.behind()) == 0
}

// wasWaiting reports whether the own node was waiting behind a predecessor when the connection ended.
// Whatever else happens to a place forgets the predecessor.
func (p *position) wasWaiting(ev events.Event) bool { return p.hasNode(ev) && p.predecessor != "" }

// waitAgain reads the own node and then the predecessor, both with a watch. The answers decide, as they
// do for every waiting place. The handle gets no new notice: how many places are ahead is what the last
// listing showed, and can only be fewer, as it is during a wait without an outage.
func (p *position) waitAgain(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	if !p.ownVerified() {
		p.readOwn(out)
	}
	p.tellOpenerWaiting(out)
	p.watchPredecessor(ev, out)
	p.checkLater(out)
}
