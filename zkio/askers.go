package zkio

import "github.com/incumbent-go/incumbent/events"

// askers are the machines that have calls in a session, from submit to the answer.
type askers map[events.ID]*asker

// asker is one of them: its calls share it, so that all of them learn at once, in
// a lane, in the slot or under way, that it is over.
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

// done notes that a call has its answer.
func (a askers) done(c *call) {
	if c.asker == nil {
		return
	}
	if c.asker.calls--; c.asker.calls == 0 && !c.asker.over {
		delete(a, c.id)
	}
}

// forget notes that a machine is over.
func (a askers) forget(id events.ID) {
	if asker := a[id]; asker != nil {
		asker.over = true
		delete(a, id)
	}
}

// unwanted reports whether a call is a read of a machine that is over. It is not
// sent any more, and its answer is not posted. A write is: a machine may have asked
// for a deletion as its last act, and the log says what became of it.
func (c *call) unwanted() bool { return c.reads && c.asker != nil && c.asker.over }
