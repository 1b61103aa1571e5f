package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// BarrierRecipe makes calls at barriers: a node that is there bars the way.
// Curator's DistributedBarrier, on the same node. Options: "retry".
var BarrierRecipe = engine.NewRecipe(barrierChart, newPassage)

var barrierChart = engine.MustCompile(engine.Chart[passage]{
	Name:    "barrier",
	Doc:     "One call at a barrier: to wait until the node is gone, to set it or to remove it.",
	States:  passageStates("The node is there; its deletion is watched."),
	Final:   closed,
	Happy:   from{latent, deciding, looking, shut, closed},
	Kinds:   passageKinds,
	Rows:    slices.Concat(hiddenRows, passageRows((*passage).noNode, (*passage).unbarred, events.WatchDeleted, events.WatchCreated)),
	Ignores: passageIgnores(events.WatchDeleted, events.WatchCreated),
})

// hiddenRows are those of a node that may not be read. Its watch may never tell
// when it goes (servers since 3.8.4 spend it without a word), so it is asked for
// again and again.
var hiddenRows = []engine.Row[passage]{
	{From: from{looking}, On: on(events.ReplyMulti), When: (*passage).forbidden, To: looking, Do: (*passage).noteHidden},
	{From: from{looking}, On: on(events.ReplyStat), When: (*passage).unreadable, To: pausing, Do: (*passage).complainHidden},
}

func (p *passage) forbidden(ev events.Event) bool { return ev.Code == events.NoAuth }

func (p *passage) noteHidden(ev events.Event, out *engine.Outbox) { p.hidden = true }

// unreadable is a barrier that is shut, by a node that may not be read.
func (p *passage) unreadable(ev events.Event) bool {
	return p.hidden && ev.Code == events.OK && !p.unbarred(ev)
}

func (p *passage) complainHidden(ev events.Event, out *engine.Outbox) {
	p.noteSeen(ev)
	ev.Code = events.NoAuth
	p.complain(ev, out)
}

// unbarred is a barrier that is open, or was since the wait began: its node is
// gone, or was made after one was seen.
func (p *passage) unbarred(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Code == events.OK && p.seen != 0 && ev.Stat != nil && ev.Stat.Czxid > p.seen
}
