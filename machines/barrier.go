package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BarrierRecipe makes calls at barriers: a node that is there bars the way.
// Curator's DistributedBarrier, on the same node. Options: "retry".
var BarrierRecipe = engine.NewRecipe(barrierChart, newBarrierCall)

var barrierChart = engine.MustCompile(engine.Chart[barrierCall]{
	Name:    "barrier",
	Doc:     "One call at a barrier: to wait until the node is gone, to set it or to remove it.",
	States:  barrierCallStates("The node is there; its deletion is watched."),
	Final:   closed,
	Happy:   from{latent, deciding, looking, shut, closed},
	Kinds:   barrierCallKinds,
	Rows:    slices.Concat(hiddenRows, barrierCallRows((*barrierCall).noNode, (*barrierCall).barrierOpen, events.WatchDeleted, events.WatchCreated)),
	Ignores: barrierCallIgnores(events.WatchDeleted, events.WatchCreated),
})

// hiddenRows are those of a node that may not be read. Its watch may never tell
// when it goes (servers since 3.8.4 spend it without a word), so it is asked for
// again and again.
var hiddenRows = []engine.Row[barrierCall]{
	{From: from{looking}, On: on(events.ReplyMulti), When: (*barrierCall).forbidden, To: looking, Do: (*barrierCall).noteHidden},
	{From: from{looking}, On: on(events.ReplyStat), When: (*barrierCall).unreadable, To: pausing, Do: (*barrierCall).failHidden},
}

func (p *barrierCall) forbidden(ev events.Event) bool { return ev.Code == events.NoAuth }

func (p *barrierCall) noteHidden(ev events.Event, out *engine.Outbox) { p.hidden = true }

// unreadable is a barrier that is shut, by a node that may not be read.
func (p *barrierCall) unreadable(ev events.Event) bool {
	return p.hidden && ev.Code == events.OK && !p.barrierOpen(ev)
}

func (p *barrierCall) failHidden(ev events.Event, out *engine.Outbox) {
	p.noteSeen(ev)
	ev.Code = events.NoAuth
	p.failAndBackOff(ev, out)
}

// barrierOpen is a barrier that is open, or was since the wait began: its node is
// gone, or was made after one was seen.
func (p *barrierCall) barrierOpen(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.OK && p.seen != 0 && ev.Stat != nil && ev.Stat.Czxid > p.seen
}
