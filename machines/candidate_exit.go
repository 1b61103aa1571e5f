package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// How candidates lose a connection, a marker, or everything.

// settleWrite takes the answer of a write that was under way when the connection
// ended; other answers mean nothing any more.
func (c *jobElection) settleWrite(ev events.Event, out *engine.Outbox) {
	if ev.Request == c.creating {
		c.book(ev, out)
	}
}

// forfeit is the end of the session: the marker goes with it.
func (c *jobElection) forfeit(ev events.Event, out *engine.Outbox) {
	c.lose(ev, out)
	c.release(out)
}

func (c *jobElection) forfeitLeaving(ev events.Event, out *engine.Outbox) {
	c.forfeit(ev, out)
	c.tellGone(ev, out)
}

// lapse ends belief because the marker is gone.
func (c *jobElection) lapse(ev events.Event, out *engine.Outbox) {
	c.stepDownGone(ev, out)
	c.breakSeal(out)
}

// drop forgets a marker that went with the session.
func (c *jobElection) drop(ev events.Event, out *engine.Outbox) { c.release(out) }

// attachReread is noteSession while belief rides a disconnect out.
func (c *jobElection) attachReread(ev events.Event, out *engine.Outbox) {
	c.noteSession(ev, out)
	out.Exists(c.marker, true)
}

// clear makes sure that no marker of ours is left, as soon as there is a
// connection: it deletes the marker with its seal, or looks for both.
func (c *jobElection) clear(ev events.Event, out *engine.Outbox) {
	if c.creating != 0 { // its answer comes first
		return
	}
	out.Forget()
	switch {
	case !c.entangled(ev):
		c.tellGone(ev, out)
	case !ev.Attached:
	case c.own != "" && c.sealed:
		c.erase(ev, out)
	default:
		c.look(ev, out)
	}
}

// erase deletes the marker, and nobody else's: without the seal that tells it from
// theirs it gets another one first.
func (c *jobElection) erase(ev events.Event, out *engine.Outbox) {
	out.Forget()
	if ev.Kind == events.ReplyStat {
		c.noteMarker(ev, out)
	}
	if !c.sealed {
		c.sealAnew(out)
		return
	}
	out.Multi(
		events.Op{Verb: "delete", Path: c.sealPath(), Version: -1},
		events.Op{Verb: "delete", Path: c.marker, Version: c.version},
	)
}

// letGo is the marker, gone: what comes after is decided in one place.
func (c *jobElection) letGo(ev events.Event, out *engine.Outbox) {
	c.release(out)
	c.tellGone(ev, out)
}

// yieldOffice is letGo of a marker that somebody else has ended.
func (c *jobElection) yieldOffice(ev events.Event, out *engine.Outbox) {
	c.breakSeal(out)
	c.tellGone(ev, out)
}

// countOut is a latch that is over, on the way out.
func (c *jobElection) countOut(ev events.Event, out *engine.Outbox) {
	c.latches--
	if !c.entangled(ev) {
		c.tellGone(ev, out)
	}
}

// clearLater tries again a while after the server refused.
func (c *jobElection) clearLater(ev events.Event, out *engine.Outbox) {
	out.Forget()
	c.announce(ev.Code, "delete "+c.marker+": "+string(ev.Code), ev, out)
	out.Timer("delete again", c.persist(ev))
}

// rejectMarker gives back a marker whose token is below the floor.
func (c *jobElection) rejectMarker(ev events.Event, out *engine.Outbox) {
	c.noteMarker(ev, out)
	c.leaveLatch(out)
	c.then, c.quick = rest, 0
	c.announce(events.TokenFloor, fmt.Sprintf("token %d of %s is below the floor %d: the ensemble went back in time", c.token, c.marker, c.floor), ev, out)
	c.clear(ev, out)
}

// withdraw is close, with the place in the line of the latch given up.
func (c *jobElection) withdraw(ev events.Event, out *engine.Outbox) {
	c.close(ev, out)
	c.leaveLatch(out)
}

// moveOn answers the resign whose marker is gone. Where there is no connection, what
// the retry policy said of it last is over, too.
func (c *jobElection) moveOn(ev events.Event, out *engine.Outbox) {
	c.then, c.spent = stay, false
	c.moved(out)
}
