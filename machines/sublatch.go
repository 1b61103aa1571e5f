package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// sublatch is the latch that a machine has stand in a line for it: a machine of
// its own, which tells the machine that opened it (its patron) when it waits, is held,
// lost, in trouble or over.
type sublatch struct {
	latchNode   string // the latch's node while the latch is held
	latch       events.ID
	opened      uint64 // latches opened
	openLatches int    // of them, those that are not over yet
}

// openLatch has a latch stand in the line of a directory, if none does yet.
func (e *sublatch) openLatch(dir string, patron *contender, options map[string]string, out *engine.Outbox) {
	if e.latch != "" {
		return
	}
	e.opened++
	e.openLatches++
	e.latch = events.ID(fmt.Sprintf("%s-%s-%d", latchChart.Name(), patron.id, e.opened))
	options["opener"] = patron.id
	out.Tell(e.latch, events.Event{
		Kind: events.CommandOpen, Recipe: latchChart.Name(), Path: dir, Data: patron.data,
		Seed: guid(patron.seed, e.opened), Options: options,
	})
	out.Tell(e.latch, events.Event{Kind: events.CommandStart})
}

// closeLatch gives the latch, or the place in its line, to the next.
func (e *sublatch) closeLatch(out *engine.Outbox) {
	if e.latch != "" {
		out.Tell(e.latch, events.Event{Kind: events.CommandClose})
		e.latch, e.latchNode = "", ""
	}
}

func (e *sublatch) noteHeld(ev events.Event, out *engine.Outbox) { e.latchNode = ev.Path }

func (e *sublatch) noteLost(ev events.Event, out *engine.Outbox) { e.latchNode = "" }

func (e *sublatch) noteClosed(ev events.Event, out *engine.Outbox) { e.openLatches-- }
