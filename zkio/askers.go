package zkio

import "github.com/incumbent-go/incumbent/events"

// askers are the machines that have calls in a session, from submit to the reply.
type askers map[events.ID]*asker

// asker is one of them. All its calls point to it, so that all of them, in a lane, in the
// slot or pending, know immediately when the machine has closed.
type asker struct {
	calls int
	over  bool
}

// add notes that a machine has one more call.
func (a askers) add(c *call) {
	if c.id == "" {
		return
	}
	if a[c.id] == nil {
		a[c.id] = &asker{}
	}
	c.asker = a[c.id]
	c.asker.calls++
}

// done notes that a call has its reply.
func (a askers) done(c *call) {
	if c.asker == nil {
		return
	}
	if c.asker.calls--; c.asker.calls == 0 && !c.asker.over {
		delete(a, c.id)
	}
}

// forget notes that a machine has closed.
func (a askers) forget(id events.ID) {
	if asker := a[id]; asker != nil {
		asker.over = true
		delete(a, id)
	}
}

// unwanted reports whether a call is a read of a machine that has closed. It is not sent
// any longer, and its reply is not posted. A write is: a machine may send a deletion as its
// last request, and the log has its outcome.
func (c *call) unwanted() bool { return c.reads && c.asker != nil && c.asker.over }
