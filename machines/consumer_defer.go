package machines

import (
	"cmp"
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// A refusal that is about one item defers that item, and the consumer goes on with the others. An item
// that cannot be read is left to consumers that can. An item whose outcome cannot be written stays
// locked, so that no consumer does its work again.

// nextRefused reports whether the next item may not be read, as the check of its node does.
func (c *consumer) nextRefused(ev events.Event) bool {
	return c.next != nil && c.refusedForGood(ev) && ev.Code != events.NoNode && ev.Path == join(c.path, c.next.Name)
}

// deadLettersRefused reports whether the directory of dead letters cannot be created for an item that
// belongs there.
func (c *consumer) deadLettersRefused(ev events.Event) bool {
	return c.dirRefused(ev) && !c.transient(c.rootCause(ev)) && c.outcome == deadLettered
}

// unwritable reports whether the outcome of an item was refused for the item itself, and not for the
// next one's lock.
func (c *consumer) unwritable(ev events.Event) bool {
	itself := c.next == nil || ev.Path != "" && ev.Path != join(c.locks, c.next.Name)
	return c.held != nil && c.outcome != released && c.refusedForGood(ev) && itself
}

// deferNext defers the next item.
func (c *consumer) deferNext(ev events.Event, out *engine.Outbox) {
	name := c.next.Name
	c.next = nil
	c.deferItem(name, ev, out)
}

// deferHeld releases the item that is held, and defers it.
func (c *consumer) deferHeld(ev events.Event, out *engine.Outbox) {
	name := c.held.Name
	c.giveBack(ev, out)
	c.deferItem(name, ev, out)
}

// deferItem notes when an item is read again, and reports that.
func (c *consumer) deferItem(name string, ev events.Event, out *engine.Outbox) {
	c.deferRead(name, ev.At, c.jitter.next())
	c.skipped = true
	c.reportDeferred(join(c.path, name), ev, out)
}

// writeLater keeps the item that is held, with its lock, until its outcome can be written. A failed
// try that cannot be written is counted here.
func (c *consumer) writeLater(ev events.Event, out *engine.Outbox) {
	h := *c.held
	if c.outcome == failed {
		h.uncounted++
	} else {
		h.unwritten = c.outcome
	}
	h.refusals++
	c.separateNextLock(ev, out)
	c.drop(ev, out)
	c.park(h, h.refusals-1, ev.At, c.jitter.next())
	c.reportDeferred(cmp.Or(ev.Path, join(c.path, h.Name)), ev, out)
}

// writeLaterByRootCause keeps the item until its outcome can be written, and reports the refused
// directory as the reason.
func (c *consumer) writeLaterByRootCause(ev events.Event, out *engine.Outbox) {
	c.writeLater(c.rootCause(ev), out)
}

// separateAndFail takes the next item's lock out of the multi, reports a failure with the refused
// directory as the reason, and pauses.
func (c *consumer) separateAndFail(ev events.Event, out *engine.Outbox) {
	ev = c.rootCause(ev)
	c.separateNextLock(ev, out)
	c.failAndBackOff(ev, out)
}

// deferredCount returns how many items wait because a request about them was refused, with the one that is held.
func (c *consumer) deferredCount() int {
	n := c.refusedCount()
	if c.held != nil && c.held.refusals > 0 {
		n++
	}
	return n
}

// reportDeferred reports why an item was deferred, and how many are.
func (c *consumer) reportDeferred(path string, ev events.Event, out *engine.Outbox) {
	c.lastRefusal = failure{code: ev.Code, path: path}
	c.notifyDeferred(ev, out)
}

// notifyDeferred shows the last refusal on the handle.
func (c *consumer) notifyDeferred(ev events.Event, out *engine.Outbox) {
	text := c.lastRefusal.path
	if n := c.deferredCount(); n > 1 {
		text = fmt.Sprintf("%s (%d items are deferred)", text, n)
	}
	c.reportFailure(c.lastRefusal.code, text, ev, out)
}

// clearQueueFailure ends a failure, except for refusals of single items and for a counter that has
// ended.
func (c *consumer) clearQueueFailure(ev events.Event, out *engine.Outbox) {
	c.forgetCount()
	switch {
	case c.deferredCount() > 0 && c.series().code != c.lastRefusal.code:
		c.notifyDeferred(ev, out)
	case c.deferredCount() > 0:
	case c.counterEnded && c.series().code != events.CounterEnd:
		c.reportFailure(events.CounterEnd, c.path, ev, out)
	case !c.counterEnded:
		c.clearFailure(out)
	}
}
