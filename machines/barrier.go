package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BarrierRecipe makes calls at barriers. A barrier is closed while its node exists: Curator's
// DistributedBarrier, on the same node. Options: "retry".
var BarrierRecipe = &engine.RecipeOf[barrierCall]{Named: "barrier", Chart: barrierChart, Open: newBarrierCall}

func barrierChart() (c engine.Chart[barrierCall]) {
	c.Doc = "One call at a barrier: it waits until the node is gone, or creates it, or deletes it."
	c.States = barrierCallStates("The node exists; its deletion is watched.", "the barrier's node exists")
	c.Final = closed
	c.Happy = from{latent, deciding, looking, shut, closed}
	c.Kinds = barrierCallKinds
	c.Rows = slices.Concat(hiddenRows(), barrierCallRows((*barrierCall).noNode, (*barrierCall).barrierOpen,
		events.WatchDeleted, events.WatchCreated))
	c.Ignores = barrierCallIgnores(events.WatchDeleted, events.WatchCreated)
	return c
}

// hiddenRows are the rows for a node that may not be read. Its watch may never fire (servers since
// 3.8.4 drop it without an event), so the node is read again and again.
func hiddenRows() []engine.Row[barrierCall] {
	return []engine.Row[barrierCall]{
		{From: from{looking}, On: on(events.ReplyMulti), When: (*barrierCall).forbidden,
			To: looking, Do: (*barrierCall).noteHidden},
		{From: from{looking}, On: on(events.ReplyStat), When: (*barrierCall).unreadable,
			To: pausing, Do: (*barrierCall).failHidden},
	}
}

// forbidden reports whether an access list forbids to read the node.
func (p *barrierCall) forbidden(ev events.Event) bool { return ev.Code == events.NoAuth }

// noteHidden notes that the node may not be read.
func (p *barrierCall) noteHidden(ev events.Event, out *engine.Outbox) { p.hidden = true }

// unreadable reports whether the barrier is closed by a node that may not be read.
func (p *barrierCall) unreadable(ev events.Event) bool {
	return p.hidden && ev.Code == events.OK && !p.barrierOpen(ev) || ev.Code == events.NoAuth
}

// failHidden reports that the node may not be read, and reads it again after a pause.
func (p *barrierCall) failHidden(ev events.Event, out *engine.Outbox) {
	p.noteSeen(ev)
	ev.Code = events.NoAuth
	p.failAndBackOff(ev, out)
}

// barrierOpen reports whether the barrier is open, or was since the wait began: its node is gone, or
// was created after an earlier one was seen.
func (p *barrierCall) barrierOpen(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.OK && p.seen != 0 && ev.Stat != nil && ev.Stat.Czxid > p.seen
}
