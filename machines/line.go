package machines

import (
	"iter"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// line is what the last listing on this connection showed.
type line struct {
	predecessor string
	// the read that arms the watch for the end of the predecessor, until its answer; 0: it is armed
	aheadRead  uint64
	hidden     bool    // the predecessor may not be read, so the directory is watched
	nextInLine bool    // the predecessor is the only place ahead, and was watched after the own node
	purged     bool    // further nodes with the own GUID were deleted
	equals     *equals // nil: no place with an equal number was seen
	// the listing that was sent right behind the own create; 0: there is none, or it does not count
	behindCreate uint64
}

// equals are places with the number of the own one.
type equals struct {
	behind []string // those that were created later
}

// behind returns the places with an equal number that were created later.
func (l *line) behind() []string {
	if l.equals == nil {
		return nil
	}
	return l.equals.behind
}

// aheadGone reports whether the predecessor was deleted: a watch or a read says so.
func (p *position) aheadGone(ev events.Event) bool {
	return p.ahead(ev.Path) && (ev.Kind == events.WatchDeleted || ev.Code == events.NoNode)
}

// createdLater reports whether the predecessor has the own number, but was created after the own node.
func (p *position) createdLater(ev events.Event) bool {
	place, ok := ParsePlace(p.predecessor, p.lineLabels()...)
	return ok && p.present(ev) && place.Sequence == p.sequence && ev.Stat.Czxid > p.token
}

// persistent reports whether no session owns the predecessor.
func (p *position) persistent(ev events.Event) bool {
	return p.present(ev) && !ev.Stat.Ephemeral() && !p.createdLater(ev)
}

// present reports whether the predecessor exists and is watched.
func (p *position) present(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.OK && ev.Stat != nil
}

// unreadable reports whether an access list forbids to read the predecessor's data.
func (p *position) unreadable(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.NoAuth
}

// aheadExists reports whether the predecessor exists, readable or not. If a watch is armed, a check
// that was not answered by yes or no changes nothing: the next one comes soon.
func (p *position) aheadExists(ev events.Event) bool {
	return p.present(ev) || p.unreadable(ev) || p.aheadRead == 0 && p.ahead(ev.Path) && ev.Code != events.NoNode
}

// mayTakeOver reports whether promise 5 holds: the only place ahead was deleted, the own node has not
// changed since it was read back and watched on this connection, and a confirmation counts at this
// moment.
func (p *position) mayTakeOver(ev events.Event) bool {
	return p.nextInLine && p.ahead(ev.Path) && p.ownVerified() && confirmed(ev)
}

// isAhead reports whether an event is about the predecessor.
func (p *position) isAhead(ev events.Event) bool { return p.ahead(ev.Path) }

// failed reports whether a listing was refused.
func (l *line) failed(ev events.Event) bool { return ev.Code != events.OK }

// counterEnds reports whether a number in the line is near the end of the int32 counter, where the
// order means nothing any more.
func (p *position) counterEnds(ev events.Event) bool {
	labels := p.lineLabels()
	return slices.ContainsFunc(ev.Children, func(name string) bool {
		if !maybeEnded(name) {
			return false
		}
		place, ok := ParsePlace(name, labels...)
		return ok && place.ended()
	})
}

// hasDuplicates reports whether several places have the own GUID. One look on each connection is
// enough: the lowest of them is ahead of the others.
func (p *position) hasDuplicates(ev events.Event) bool {
	return p.naming.unique() && !p.purged && len(p.duplicates(ev.Children)) > 1
}

// missing reports whether the line does not contain the own node, or does not exist.
func (p *position) missing(ev events.Event) bool {
	if ev.Code != events.OK {
		return ev.Code == events.NoNode
	}
	return !slices.Contains(ev.Children, p.own())
}

// isFirst reports whether no place is ahead of the own one.
func (p *position) isFirst(ev events.Event) bool {
	for range p.placesAhead(ev.Children) {
		return false
	}
	return true
}

// mayLead reports whether the own node is first, and surely existed before the listing, and a
// confirmation counts.
func (p *position) mayLead(ev events.Event) bool {
	return p.isFirst(ev) && p.createdAhead(ev) && confirmed(ev)
}

// ahead reports whether path is the predecessor's.
func (p *position) ahead(path string) bool {
	return p.predecessor != "" && path == join(p.ownDir, p.predecessor)
}

// listLine reads the own node back, unless that was done on this connection, and lists the line.
func (p *position) listLine(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.line, p.first = line{equals: p.equals, purged: p.purged}, false
	if !p.ownVerified() {
		p.owned, p.watched = false, false
		p.readOwn(out)
	}
	out.Children(p.ownDir)
}

// rewatchOwn reads the own node again. From here on the machine has to list the line before it leads.
func (p *position) rewatchOwn(ev events.Event, out *engine.Outbox) {
	p.nextInLine = false
	p.reread(ev, out)
}

// placesAhead returns the places ahead of the own one that it waits for, in the listing's order.
func (p *position) placesAhead(children []string) iter.Seq[Place] {
	labels, own := p.lineLabels(), p.own()
	return func(yield func(Place) bool) {
		for _, name := range children {
			if surelyBehind(name, own) {
				continue // most of a long line are
			}
			if place, ok := ParsePlace(name, labels...); ok && p.waitsBehind(place) && !yield(place) {
				return
			}
		}
	}
}

// surelyBehind reports whether a name is that of a place with a higher number than the own name's, or of no place. It
// does not parse them: ten digits that begin with 0 are in the order of their numbers.
func surelyBehind(name, own string) bool {
	return !maybeEnded(name) && len(own) >= 10 && name[len(name)-10:] > own[len(own)-10:]
}

// waitsBehind reports whether the own place waits for this one, which has a lower number, or the same
// one and was not found to be behind.
func (p *position) waitsBehind(other Place) bool {
	if other.Name == p.own() || !p.waitsFor(other) {
		return false
	}
	return other.Sequence < p.sequence || other.Sequence == p.sequence && !p.isBehind(other.Name)
}

// waitsFor reports whether this place has to wait for another one. A reader does not wait for other
// readers.
func (p *position) waitsFor(other Place) bool { return !p.shared || other.Label != p.label }

// isBehind reports whether a place with the own number was found to be behind.
func (p *position) isBehind(name string) bool {
	return slices.Contains(p.behind(), name)
}

// queueUp waits behind another place: it sets one watch, on the predecessor only.
func (p *position) queueUp(ev events.Event, out *engine.Outbox) {
	nearest, ahead, passed := p.nearest(ev.Children)
	behind := join(p.ownDir, nearest.Name)
	p.predecessor = base(behind) // so that the listing's string is not kept as well
	second := ahead == 1 && nearest.Sequence != p.sequence
	p.nextInLine = second && p.createdAhead(ev) && len(p.behind()) == 0
	p.tellOpenerRecovered(out)
	p.clearFailure(out)
	p.askedSince = 0
	p.tellOpenerWaiting(out)
	if second {
		p.wantHeartbeats(out)
	} else {
		p.dropHeartbeats(out)
	}
	p.readUnread(ev, out) // before the predecessor: see nextInLine
	read := p.watchAhead(behind, engine.ForUser, out)
	out.Notify(events.Notify{What: events.Waiting, Path: p.path(), Token: p.token, Ahead: ahead, Behind: behind,
		Work: read})
	passed.notify(p.ownDir, out)
	p.checkLater(out)
}

// nearest returns the last of the places ahead of the own one, how many these are, and what it has passed over.
func (p *position) nearest(children []string) (last Place, ahead int, passed passedOver) {
	labels, own := p.lineLabels(), p.own()
	for _, name := range children {
		if surelyBehind(name, own) {
			continue
		}
		place, ok := ParsePlace(name, labels...)
		switch {
		case !ok:
			passed.add(name)
		case p.waitsBehind(place):
			if ahead == 0 || inOrder(place, last) > 0 {
				last = place
			}
			ahead++
		}
	}
	return last, ahead, passed
}

// checkLater starts the timer of the next check of the predecessor, which is at most a session timeout
// away.
func (p *position) checkLater(out *engine.Outbox) {
	out.Timer(checkAheadTimer, p.timeout*3/4+time.Duration(p.jitter.next()*float64(p.timeout/4)))
}

// checkPredecessor asks whether the predecessor still exists. A server does not notify a client of the
// deletion of a node that the client may not read, and the right to read it may have been taken away
// after the watch was set.
func (p *position) checkPredecessor(ev events.Event, out *engine.Outbox) {
	out.Exists(join(p.ownDir, p.predecessor))
	p.checkLater(out)
}

// watchPredecessor watches the predecessor again, after its data were changed.
func (p *position) watchPredecessor(ev events.Event, out *engine.Outbox) {
	p.watchAhead(join(p.ownDir, p.predecessor), 0, out)
}

// watchAhead sets a data watch on the predecessor's path, which leaves nothing on the server if the node is
// already gone. It returns the number of the read.
func (p *position) watchAhead(path string, how engine.Modifier, out *engine.Outbox) uint64 {
	p.aheadRead = out.With(engine.Watch | how).Get(path)
	return p.aheadRead
}

// watchUnread watches the directory in place of a predecessor that may not be read: servers since
// 3.8.4 (and Debian's) drop a watch on such a node without an event. The directory was listed, so it
// may be read. The request for the predecessor follows: what the listing says does not matter.
func (p *position) watchUnread(ev events.Event, out *engine.Outbox) {
	if ev.Request == p.aheadRead {
		p.aheadRead = 0
	}
	if p.hidden || !p.unreadable(ev) {
		return
	}
	p.hidden = true
	out.With(engine.Watch).Children(p.ownDir)
	out.Exists(join(p.ownDir, p.predecessor))
}

// orderBehind notes that a node with the same number is behind the own one, because it was created
// later, and lists the line again.
func (p *position) orderBehind(ev events.Event, out *engine.Outbox) {
	p.equals = &equals{append(p.behind(), base(ev.Path))}
	p.listLine(ev, out)
}

// reconfirm asks for the confirmation once more. If the line may have changed, it lists the line
// first.
func (p *position) reconfirm(ev events.Event, out *engine.Outbox) {
	if p.first && p.ownVerified() {
		p.seekConfirmation(ev, out)
		return
	}
	p.listLine(ev, out)
}

// noteFirst notes, when a term begins, that no place is ahead any more. If the own node was not read
// back yet, that is done later, and the term depends on the node that was created.
func (p *position) noteFirst(ev events.Event, out *engine.Outbox) {
	p.predecessor, p.nextInLine, p.equals = "", false, nil
	if p.inFlightOf(ev) {
		p.pinned = p.token
		p.watchOwnLater(out)
	}
	p.notifyPassedOver(ev, out)
}

// tellOpenerWaiting tells an opener that another place is ahead, if the opener does not depend on the
// latch's node and has other things to do meanwhile.
func (p *position) tellOpenerWaiting(out *engine.Outbox) {
	if p.read == notRead {
		p.tellOpener(events.Event{Kind: events.LatchWaiting}, out)
	}
}

// tellOpenerRecovered tells an opener that gets no LatchWaiting that the last failure has passed.
func (p *position) tellOpenerRecovered(out *engine.Outbox) {
	if p.read != notRead && p.series().code != events.OK {
		p.tellOpener(events.Event{Kind: events.LatchFailed}, out)
	}
}

// forgetLine forgets what was seen of the line and of the own node: both are read again after a term. In another
// session, the next enrolment has another GUID.
func (p *position) forgetLine(ev events.Event, out *engine.Outbox) {
	p.noteUnreadable(ev, out)
	p.owned, p.watched, p.first, p.createRefused = false, false, false, false
	p.line = line{}
}

// relistLine lists the line again after the predecessor was deleted.
func (p *position) relistLine(ev events.Event, out *engine.Outbox) {
	p.clearFailure(out)
	p.listLine(ev, out)
}

// notifyPassedOver tells the handle which children of a listing the participant has passed over. Those that are surely
// behind its own node are left out: the next participant tells about them.
func (p *position) notifyPassedOver(ev events.Event, out *engine.Outbox) {
	if ev.Kind != events.ReplyChildren || ev.Code != events.OK {
		return
	}
	var passed passedOver
	labels, own := p.lineLabels(), p.own()
	for _, name := range ev.Children {
		if surelyBehind(name, own) {
			continue
		}
		if _, ok := ParsePlace(name, labels...); !ok {
			passed.add(name)
		}
	}
	passed.notify(p.ownDir, out)
}
