package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// noteKept notes that the ready node may not be deleted, unless it only is another one.
func (b *doubleBarrier) noteKept(ev events.Event, out *engine.Outbox) {
	if !b.moved(ev) {
		b.mayBeLeft = false
	}
}

// lookForReady reads whether a ready node is left without members. The own node is deleted before, so
// that of several members that give up together the last one sees it.
func (b *doubleBarrier) lookForReady(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	b.readyOlder, b.readyNewer = false, false
	out.Exists(b.readyPath())
	out.Children(b.dir)
}

// deleteReady deletes a ready node without members, unless it was replaced meanwhile.
func (b *doubleBarrier) deleteReady(ev events.Event, out *engine.Outbox) {
	out.Multi(events.Op{Verb: "delete", Path: b.readyPath(), Version: b.version})
}
