package sim

import (
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// enrolment is what was sent and seen for the own node of one machine, and on which of the client's
// connections.
type enrolment struct {
	create  uint64 // the number of the last create
	prefix  string // of the paths that it may make, with the enrolment's GUID
	sentOn  int
	made    string // the node that it made
	madeOn  int
	read    map[string]int // the nodes that were read since, with this session as their owner
	watchOn int            // the connection on which a watch on the own node was asked for since the create
}

// guidPlace returns the enrolment of a machine that stands in a line by names with a GUID; nil if it does
// not.
func (c *client) guidPlace(id events.ID) *enrolment {
	u := c.user(id)
	if u == nil || !u.queues() || u.role.line.noGUID || u.role.line.together || u.role.line.fixedName {
		return nil
	}
	if c.enrolments[id] == nil {
		c.enrolments[id] = &enrolment{}
	}
	return c.enrolments[id]
}

// enrolmentAsked notes the requests of an enrolment, and checks that the predecessor is watched behind the own
// node: a term that begins with the predecessor's deletion rests on that order. A place that was given up watches
// nothing.
func (k *checks) enrolmentAsked(c *client, a engine.Addressed) {
	e := c.guidPlace(a.From)
	if e == nil {
		return
	}
	switch r := a.Effect.(type) {
	case events.Create:
		if r.Mode == events.EphemeralSequential {
			e.create, e.prefix, e.sentOn, e.watchOn, e.read = r.Request, r.Path, c.connections, 0, map[string]int{}
		}
	case events.Get:
		switch {
		case !r.Watch:
		case e.prefix != "" && strings.HasPrefix(r.Path, e.prefix): // it may be gone
			e.watchOn = c.connections
			if state := c.Engine().State(a.From); state == "draining" || state == "leaving" || state == "closed" {
				k.fail("a place that was given up is not watched", "client %d: %s watches %s in %s",
					c.ID(), a.From, r.Path, state)
			}
		case e.watchOn != c.connections && c.Engine().State(a.From) == "waiting":
			k.fail("the own node is watched first", "client %d: %s watches %s before its own node",
				c.ID(), a.From, r.Path)
		}
	}
}

// enrolmentAnswered notes what an answer shows of the own node.
func (c *client) enrolmentAnswered(r events.Record) {
	e := c.guidPlace(r.Machine)
	if e == nil || e.read == nil || r.Row == events.RowLate || r.Event.Code != events.OK {
		return
	}
	switch ev := r.Event; {
	case ev.Kind == events.ReplyCreate && ev.Request == e.create:
		e.made, e.madeOn = ev.Path, e.sentOn
	case ev.Kind == events.ReplyStat && ev.Stat != nil && ev.Stat.EphemeralOwner == c.sessionSeen:
		e.read[ev.Path] = c.connections
	}
}

// ownNodeKnown checks that a term begins under a node that was read back on this connection, or with the
// listing that was sent right behind its create there.
func (k *checks) ownNodeKnown(b *belief) {
	c := b.u.c
	e, by := c.guidPlace(b.u.id), c.electedBy[b.u.id]
	switch {
	case e == nil:
	case e.read[b.path] == c.connections:
	case by.Kind == events.ReplyChildren && by.Request == e.create+1 && e.made == b.path && e.madeOn == c.connections:
		k.w.cover.fault("a term in one flight")
	default:
		k.fail("the own node is known first", "%s leads %s by %s, and the node was neither read back nor just made",
			b.u.name(), b.path, by.Kind)
	}
}
