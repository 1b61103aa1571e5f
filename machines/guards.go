package machines

import "github.com/incumbent-go/incumbent/events"

// Guards of places in line, and of what they are made of. Each reads the model
// and the event, and changes nothing.

func (n *node) attached(ev events.Event) bool { return ev.Attached }
func (n *node) detached(ev events.Event) bool { return !ev.Attached }

// Replies to a create.

// made is our create, done.
func (n *node) made(ev events.Event) bool {
	return ev.Code == events.OK
}

// undecided is a request that may or may not have been applied.
func (n *node) undecided(ev events.Event) bool { return ev.Code.Unknown() }

// Reads of the own node and of the predecessor.

// ours is the own node, read back, owned by this session; in a term, the one that
// it rests on: a backup may bring an earlier one back, under a name that came twice.
func (n *node) ours(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && ev.Stat.EphemeralOwner == n.owner && (n.pinned == 0 || n.pinned == ev.Stat.Czxid)
}

// unfit is the own node, owned by another session, or with a token that the floor
// refuses.
func (n *node) unfit(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.OK && ev.Stat != nil && (!n.ours(ev) || ev.Stat.Czxid < n.floor)
}

// vanished is the own node, gone.
func (n *node) vanished(ev events.Event) bool {
	return n.mine(ev.Path) && ev.Code == events.NoNode
}

// aheadGone is the predecessor, gone between the listing and the read.
func (p *place) aheadGone(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.NoNode
}

// tied is a predecessor of our own number that was made after us.
func (p *place) tied(ev events.Event) bool {
	place, ok := ParsePlace(p.predecessor, p.kin...)
	return ok && p.present(ev) && place.Sequence == p.sequence && ev.Stat.Czxid > p.token
}

// persistent is a predecessor that no session owns.
func (p *place) persistent(ev events.Event) bool {
	return p.present(ev) && !ev.Stat.Ephemeral() && !p.tied(ev)
}

// present is the predecessor, there and watched.
func (p *place) present(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.OK && ev.Stat != nil
}

// unreadable is a predecessor whose data another owner keeps to itself.
func (p *place) unreadable(ev events.Event) bool {
	return p.ahead(ev.Path) && ev.Code == events.NoAuth
}

// inherits is promise 5: the only place before us is deleted, nothing about our
// own changed since it was read back and watched on this connection, and a
// confirmation holds at this moment.
func (p *place) inherits(ev events.Event) bool {
	return p.next && p.ahead(ev.Path) && p.assured() && confirmed(ev)
}

// isAhead is an event about the predecessor.
func (p *place) isAhead(ev events.Event) bool { return p.ahead(ev.Path) }

// Listings.

// recovered is a lost create, found in the listing.
func (p *place) recovered(ev events.Event) bool {
	return p.unknown && ev.Code == events.OK && len(p.twins(ev.Children)) > 0
}

// absent is a lost create that a synced listing does not show.
func (p *place) absent(ev events.Event) bool {
	return p.unknown && (ev.Code == events.NoNode || ev.Code == events.OK && len(p.twins(ev.Children)) == 0)
}

// checkedGone is a check that did not find the own node.
func (n *node) checkedGone(ev events.Event) bool { return ev.Code == events.NoNode }

// failed is any other refusal.
func (p *place) failed(ev events.Event) bool { return ev.Code != events.OK }

// counterEnds is a line with a number near the end of the int32 counter, where
// order means nothing any more.
func (p *place) counterEnds(ev events.Event) bool {
	for place := range places(ev.Children, p.kin...) {
		if place.ended() {
			return true
		}
	}
	return false
}

// twinned is a line in which our GUID stands more than once. Once on each
// connection is enough: whoever holds the lowest is ahead of the others.
func (p *place) twinned(ev events.Event) bool {
	return !p.purged && len(p.twins(ev.Children)) > 1
}

// missing is a line without our own node, or no line at all.
func (p *place) missing(ev events.Event) bool {
	if ev.Code != events.OK {
		return ev.Code == events.NoNode
	}
	_, listed := p.before(ev.Children)
	return !listed
}

// isFirst is a line that we head.
func (p *place) isFirst(ev events.Event) bool {
	ahead, _ := p.before(ev.Children)
	return len(ahead) == 0
}

// mayLead is isFirst with all that belief needs besides.
func (p *place) mayLead(ev events.Event) bool {
	return p.isFirst(ev) && p.assured() && confirmed(ev)
}

// Confirmations asked for before taking office.

// nowConfirmed is the answer that lets the first one lead.
func (p *contender) nowConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && p.first && p.assured() && confirmed(ev)
}

// inconclusive is a check that went well, while the own node's watch was spent, or
// while no confirmation counts.
func (p *contender) inconclusive(ev events.Event) bool {
	return ev.Code == events.OK && (!p.assured() || ev.AskAt != 0)
}

// expired is belief that is over, although the session machine's timer has not
// been dealt with yet.
func (t *term) expired(ev events.Event) bool {
	return ev.ValidUntil != 0 && ev.At >= ev.ValidUntil
}

// Plans.

// placed is a contender whose own node is known.
func (n *node) placed(events.Event) bool { return n.own != "" }

// inFlight is a create that has not returned yet.
func (n *node) inFlight(events.Event) bool { return n.creating != 0 }

// unsure is a create whose outcome is unknown.
func (n *node) unsure(events.Event) bool { return n.unknown }

// entangled is a contender that has, or may have, a node.
func (n *node) entangled(events.Event) bool {
	return n.own != "" || n.unknown || n.creating != 0
}

// leaves is a contender that is closing.
func (a *agenda) leaves(events.Event) bool { return a.then == leave }

// departs is a contender whose node, known or possible, has to go first.
func (p *contender) departs(ev events.Event) bool { return p.then != stay && p.entangled(ev) }

// deleted is the own node, gone by our own hand.
func (n *node) deleted(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// ridesOut is belief that a disconnect does not end, by choice.
func (t *term) ridesOut(ev events.Event) bool { return t.rideOut && ev.At < ev.ValidUntil }

// exhausted is a retry policy that gave up.
func (t *trouble) exhausted(events.Event) bool { return t.spent }

// exhaustedEntangled is exhausted with a node, known or possible, that has to go.
func (p *contender) exhaustedEntangled(ev events.Event) bool { return p.spent && p.entangled(ev) }

// refusedLeaving is a create that made nothing, while closing.
func (p *place) refusedLeaving(ev events.Event) bool {
	return ev.Code != events.OK && !ev.Code.Unknown() && p.then == leave
}

// absentLeaving is absent while closing.
func (p *place) absentLeaving(ev events.Event) bool { return p.absent(ev) && p.then == leave }
