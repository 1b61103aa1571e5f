package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// What a member of a double barrier waits for: the ready node, or the end of another member.

// wait watches the own node. If there is an old ready node, it watches the members too: Curator's
// enter under it without creating a new one.
func (b *doubleBarrier) wait(ev events.Event, out *engine.Outbox) {
	b.clearFailure(out)
	b.forgetGone(ev)
	out.With(engine.Watch).Exists(b.ownPath())
	if b.readyOlder {
		out.With(engine.Watch).Children(b.dir)
	}
	recheckLater(out)
}

// askReady asks whether there is a ready node by now, and whether the own node still exists.
func (b *doubleBarrier) askReady(ev events.Event, out *engine.Outbox) {
	out.With(engine.Watch).Exists(b.ownPath())
	out.With(engine.Watch).Exists(b.readyPath())
}

// askOwn asks whether the own node still exists: no watch reports the end of a node that may not be read.
func (b *doubleBarrier) askOwn(ev events.Event, out *engine.Outbox) {
	if b.own != "" {
		out.Exists(b.ownPath())
	}
}

// askOwnLater starts the timer of the next such question.
func (b *doubleBarrier) askOwnLater(ev events.Event, out *engine.Outbox) {
	if b.own != "" {
		out.StopTimer(b.recheck)
		b.recheck = recheckForeign(b.timeout, &b.jitter, out)
	}
}

// askLater asks again later.
func (b *doubleBarrier) askLater(ev events.Event, out *engine.Outbox) { recheckLater(out) }

// rewatch sets a watch on the member that is waited for.
func (b *doubleBarrier) rewatch(ev events.Event, out *engine.Outbox) {
	b.foreignNode = foreignNode{foreign: join(b.dir, b.others[0])}
	out.With(engine.Watch).Get(b.foreign)
	out.StopTimer(b.recheck)
	b.recheck = recheckForeign(b.timeout, &b.jitter, out)
}
