package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// line is what the last listing on this connection showed.
type line struct {
	predecessor string
	hidden      bool     // the predecessor may not be read: the directory is watched instead
	nextInLine  bool     // the predecessor is the only place before us, and was watched after the own node
	behind      []string // equal numbers that turned out to be made later
	purged      bool     // further nodes of our own GUID were deleted
}

// aheadGone is the predecessor, gone between the listing and the read.
func (p *place) aheadGone(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.NoNode
}

// createdLater is a predecessor of our own number that was made after us.
func (p *place) createdLater(ev events.Event) bool {
	place, ok := ParsePlace(p.predecessor, p.lineLabels...)
	return ok && p.present(ev) && place.Sequence == p.sequence && ev.Stat.Czxid > p.token
}

// persistent is a predecessor that no session owns.
func (p *place) persistent(ev events.Event) bool {
	return p.present(ev) && !ev.Stat.Ephemeral() && !p.createdLater(ev)
}

// present is the predecessor, there and watched.
func (p *place) present(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.OK && ev.Stat != nil
}

// unreadable is a predecessor whose data another owner keeps to itself.
func (p *place) unreadable(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.NoAuth
}

// mayTakeOver is promise 5: the only place before us is deleted, nothing about our
// own changed since it was read back and watched on this connection, and a
// confirmation holds at this moment.
func (p *place) mayTakeOver(ev events.Event) bool {
	return p.nextInLine && p.ahead(ev.Path) && p.ownVerified() && confirmed(ev)
}

// isAhead is an event about the predecessor.
func (p *place) isAhead(ev events.Event) bool { return p.ahead(ev.Path) }

// failed is any other refusal.
func (p *place) failed(ev events.Event) bool { return ev.Code != events.OK }

// counterEnds is a line with a number near the end of the int32 counter, where
// order means nothing any more.
func (p *place) counterEnds(ev events.Event) bool {
	for place := range places(ev.Children, p.lineLabels...) {
		if place.ended() {
			return true
		}
	}
	return false
}

// hasDuplicates is a line in which our GUID stands more than once. Once on each
// connection is enough: whoever holds the lowest is ahead of the others.
func (p *place) hasDuplicates(ev events.Event) bool {
	return !p.purged && len(p.duplicates(ev.Children)) > 1
}

// missing is a line without our own node, or no line at all.
func (p *place) missing(ev events.Event) bool {
	if ev.Code != events.OK {
		return ev.Code == events.NoNode
	}
	_, listed := p.placesAhead(ev.Children)
	return !listed
}

// isFirst is a line that we head.
func (p *place) isFirst(ev events.Event) bool {
	ahead, _ := p.placesAhead(ev.Children)
	return len(ahead) == 0
}

// mayLead is isFirst with all that belief needs besides.
func (p *place) mayLead(ev events.Event) bool {
	return p.isFirst(ev) && p.ownVerified() && confirmed(ev)
}

func (p *place) ahead(path string) bool {
	return p.predecessor != "" && path == join(p.dir, p.predecessor)
}

// listLine reads the own node back, unless that was done on this connection, and
// lists the line.
func (p *place) listLine(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.line, p.first = line{behind: p.behind, purged: p.purged}, false
	if !p.ownVerified() {
		p.owned, p.watched = false, false
		p.readOwn(out)
	}
	out.Children(p.dir)
}

// rewatchOwn reads the own node again. A machine that could have inherited has to list
// the line first.
func (p *place) rewatchOwn(ev events.Event, out *engine.Outbox) {
	p.nextInLine = false
	p.reread(ev, out)
}

// placesAhead lists the places ahead of the own one that are waited for, in no order.
func (p *place) placesAhead(children []string) (ahead []Place, listed bool) {
	for place := range places(children, p.lineLabels...) {
		switch {
		case place.Name == p.own:
			listed = true
		case !p.waitsFor(place):
		case place.Sequence < p.sequence, place.Sequence == p.sequence && !p.isBehind(place.Name):
			ahead = append(ahead, place)
		}
	}
	return ahead, listed
}

// waitsFor reports whether a place is one to wait for: a reader does not wait for
// other readers.
func (p *place) waitsFor(other Place) bool { return p.shared == "" || other.Label != p.shared }

func (p *place) isBehind(name string) bool {
	for _, b := range p.behind {
		if b == name {
			return true
		}
	}
	return false
}

// queueUp takes a place behind somebody: one watch, on the predecessor only.
func (p *place) queueUp(ev events.Event, out *engine.Outbox) {
	ahead, _ := p.placesAhead(ev.Children)
	p.predecessor = slices.MaxFunc(ahead, inOrder).Name
	second := len(ahead) == 1 && ahead[0].Sequence != p.sequence
	p.nextInLine = second && p.ownVerified() && len(p.behind) == 0
	p.clearFailure(out)
	p.tellOpenerWaiting(out)
	if second {
		p.wantHeartbeats(out)
	} else {
		p.dropHeartbeats(out)
	}
	p.watchPredecessor(ev, out)
}

// watchPredecessor leaves a data watch, which leaves nothing behind on a node
// that is already gone.
func (p *place) watchPredecessor(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Get(join(p.dir, p.predecessor))
}

// watchUnread watches the directory in place of a predecessor that may not be read:
// servers since 3.8.4 (and Debian's) spend a watch on such a node without an event.
// The directory was listed, so it may be read. The predecessor is asked for after
// that: what the listing says does not matter.
func (p *place) watchUnread(ev events.Event, out *engine.Outbox) {
	p.hidden = true
	out.With(engine.Watch).Children(p.dir)
	out.Exists(join(p.dir, p.predecessor))
}

// orderBehind puts a node of the same number behind us, because it was made later,
// and looks at the line again.
func (p *place) orderBehind(ev events.Event, out *engine.Outbox) {
	p.behind = append(p.behind, base(ev.Path))
	p.listLine(ev, out)
}

// reconfirm asks for the confirmation once more; where what was seen of the line
// is not known to be so any longer, it looks at that first.
func (p *place) reconfirm(ev events.Event, out *engine.Outbox) {
	if p.first && p.ownVerified() {
		p.seekConfirmation(ev, out)
		return
	}
	p.listLine(ev, out)
}

// noteFirst begins a term: nobody is ahead in the line any more.
func (p *place) noteFirst(ev events.Event, out *engine.Outbox) {
	p.predecessor, p.nextInLine, p.behind = "", false, nil
}

// tellOpenerWaiting lets a patron know that somebody is ahead: one that does not rest on
// its latch's node, and has other things to see to meanwhile.
func (p *place) tellOpenerWaiting(out *engine.Outbox) {
	if p.read == notRead {
		p.tellOpener(events.Event{Kind: events.LatchWaiting}, out)
	}
}

// forgetLine forgets what was seen of the line and of the own node in it: after a
// term it is looked at again.
func (p *place) forgetLine(ev events.Event, out *engine.Outbox) {
	p.owned, p.watched, p.first = false, false, false
	p.line = line{}
}

// relistLine looks again after the obstruction went.
func (p *place) relistLine(ev events.Event, out *engine.Outbox) {
	p.clearFailure(out)
	p.listLine(ev, out)
}

// rejectSequence gives back a place in a line whose counter is about to wrap.
func (p *place) rejectSequence(ev events.Event, out *engine.Outbox) {
	p.reject(events.CounterEnd, "the sequence counter of "+p.dir+" is at its end: delete and re-create the directory", ev, out)
}
