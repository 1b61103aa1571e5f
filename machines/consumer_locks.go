package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// verify reads the lock, to see which consumer owns it.
func (c *consumer) verify(ev events.Event, out *engine.Outbox) {
	lock := c.next
	if lock == nil {
		lock = &c.held.Item
	}
	out.DropPending()
	out.With(engine.Unawaited).Sync(c.path)
	out.With(engine.Data).Get(join(c.locks, lock.Name))
}

// confirmLock notes that this consumer created the lock: what was written in the same multi is
// written.
func (c *consumer) confirmLock(ev events.Event, out *engine.Outbox) {
	if c.next != nil {
		tellKept(join(c.locks, c.next.Name), out)
		c.holdNext(ev, out)
	}
	c.outcomeUnknown, c.mayFollow = false, false
}

// noteLockFailed notes that a lock was not created, or is gone. If the server may still create it, it is searched
// for: nobody else would get the item.
func (c *consumer) noteLockFailed(ev events.Event, out *engine.Outbox) {
	if c.next != nil {
		c.searchName(c.id, join(c.locks, c.next.Name), ev, out)
	}
	if c.next == nil || c.held == nil {
		c.drop(ev, out)
	}
	c.separateNextLock(ev, out)
}
