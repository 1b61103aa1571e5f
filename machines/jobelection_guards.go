package machines

import "github.com/incumbent-go/incumbent/events"

// Guards of candidates. Each reads the model and the event, and changes nothing.

// listed is the directory of marker and seals, or what says that it is gone.
func (c *jobElection) listed(ev events.Event) bool {
	return ev.Code == events.OK || ev.Code == events.NoNode
}

// vacant is a marker that is not there: nobody leads.
func (c *jobElection) vacant(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.NoNode
}

// vacantHeld is vacant, with the latch in our hands.
func (c *jobElection) vacantHeld(ev events.Event) bool { return c.vacant(ev) && c.held != "" }

// occupied is a marker that is there.
func (c *jobElection) occupied(ev events.Event) bool {
	return ev.Path == c.marker && ev.Code == events.OK && ev.Stat != nil
}

// lasting is a marker that no session owns: it will never go by itself.
func (c *jobElection) lasting(ev events.Event) bool {
	return c.occupied(ev) && !ev.Stat.Ephemeral()
}

// marked is a marker that this session owns: ours, for a client makes one
// candidate for each job.
func (c *jobElection) marked(ev events.Event) bool {
	return c.occupied(ev) && ev.Stat.EphemeralOwner == c.owner
}

// notOurs is a marker that is gone, or another's.
func (c *jobElection) notOurs(ev events.Event) bool { return c.vacant(ev) || c.occupied(ev) }

// markedTooLow is a marker of ours with a token that the floor refuses.
func (c *jobElection) markedTooLow(ev events.Event) bool {
	return c.marked(ev) && ev.Stat.Czxid < c.floor
}

// mayGovern is a marker of ours with all that belief needs besides.
func (c *jobElection) mayGovern(ev events.Event) bool {
	return c.marked(ev) && c.sealed && confirmed(ev)
}

// resealed is a marker that was given another seal.
func (c *jobElection) resealed(ev events.Event) bool { return ev.Code == events.OK && !c.sealed }

// unchanged is a marker of ours that is the very one that the term rests on.
func (c *jobElection) unchanged(ev events.Event) bool {
	return c.marked(ev) && ev.Stat.Czxid == c.token && ev.Stat.Version == c.version
}

// nowSure is the confirmation that lets us lead.
func (c *jobElection) nowSure(ev events.Event) bool {
	return ev.Code == events.OK && confirmed(ev)
}

// outrun is a transaction that came too late: the marker, a seal or the latch's
// node is not what it was.
func (c *jobElection) outrun(ev events.Event) bool {
	return ev.Code == events.NodeExists || ev.Code == events.NoNode || ev.Code == events.BadVersion
}

// tied is a candidate that has, or may have, a marker or a latch.
func (c *jobElection) tied(ev events.Event) bool { return c.entangled(ev) || c.latches > 0 }

// bound is a candidate that wants out and is tied.
func (c *jobElection) bound(ev events.Event) bool {
	return c.then != stay && c.entangled(ev) || c.then == leave && c.latches > 0
}

// exhaustedBound is a retry policy that gave up, with something to clear away.
func (c *jobElection) exhaustedBound(ev events.Event) bool { return c.spent && c.tied(ev) }

// leavesLatch is a closing candidate whose latch is not over yet.
func (c *jobElection) leavesLatch(events.Event) bool { return c.then == leave && c.latches > 0 }
