package zkio

import "github.com/incumbent-go/incumbent/events"

// callers are the machines that have calls in a session, from submit to the reply.
type callers struct {
	known map[events.ID]*caller
	most  int // how many were known at once, since the map was made
}

// fewCallers is for how many machines the room is kept while none has a call.
const fewCallers = 64

// caller is one of them. All its calls point to it, so that all of them, in a lane or
// pending, know immediately when the machine has closed.
type caller struct {
	calls  int
	closed bool
}

// add notes that a machine has one more call.
func (a *callers) add(c *call) {
	if c.id == "" {
		return
	}
	if a.known == nil {
		a.known = map[events.ID]*caller{}
	}
	if c.caller = a.known[c.id]; c.caller == nil {
		c.caller = &caller{}
		a.known[c.id], a.most = c.caller, max(a.most, len(a.known)+1)
	}
	c.caller.calls++
}

// done notes that a call has its reply.
func (a *callers) done(c *call) {
	if c.caller == nil {
		return
	}
	if c.caller.calls--; c.caller.calls == 0 && !c.caller.closed {
		a.remove(c.id)
	}
}

// forget notes that a machine has closed.
func (a *callers) forget(id events.ID) {
	if known := a.known[id]; known != nil {
		known.closed = true
		a.remove(id)
	}
}

// remove removes a machine. The map goes with the last of many: a map never gets smaller.
func (a *callers) remove(id events.ID) {
	if delete(a.known, id); len(a.known) == 0 && a.most > fewCallers {
		a.known, a.most = nil, 0
	}
}

// unwanted reports whether a call is a read of a machine that has closed. It is not sent
// any longer, and its reply is not posted. A write is: a machine may send a deletion as its
// last request, and the log has its outcome.
func (c *call) unwanted() bool { return c.reads && c.over() }

// over reports whether the machine that sent a call has closed.
func (c *call) over() bool { return c.caller != nil && c.caller.closed }
