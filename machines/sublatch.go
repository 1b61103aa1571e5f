package machines

import (
	"fmt"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// sublatch is a latch that a machine, its opener, opens to wait in a line for it. The latch is a
// machine of its own, and tells the opener when it waits, is held, is lost, fails or has ended.
type sublatch struct {
	latchNode   string // the latch's node while the latch is held
	latch       events.ID
	opened      uint64 // latches opened
	openLatches int    // those of them that have not ended yet
	oneFlight   bool   // they may enrol in one flight
}

// latchOpener is what a sublatch has of its opener.
type latchOpener struct {
	id, seed string
	data     []byte // of the latch's node
}

// asOpener returns what a sublatch has of the contender.
func (p *contender) asOpener() latchOpener { return latchOpener{p.id, p.seed, p.data} }

// openLatch opens a latch in the line of a directory, if none is open yet.
func (e *sublatch) openLatch(dir string, opener latchOpener, options map[string]string, out *engine.Outbox) {
	if e.latch != "" {
		return
	}
	e.opened++
	e.openLatches++
	e.latch = events.ID(fmt.Sprintf("%s-%s-%d", LatchRecipe.Name(), opener.id, e.opened))
	options[OptionOpener] = opener.id
	if e.oneFlight {
		options[OptionOneFlight] = "true"
	}
	out.Open(e.latch, LatchRecipe,
		events.Event{Path: dir, Data: opener.data, Seed: guid(opener.seed, e.opened), Options: options})
	out.Tell(e.latch, events.Event{Kind: events.CommandStart})
}

// closeLatch closes the latch, and gives up its place in the line.
func (e *sublatch) closeLatch(out *engine.Outbox) {
	if e.latch != "" {
		out.Tell(e.latch, events.Event{Kind: events.CommandClose})
		e.latch, e.latchNode = "", ""
	}
}

// noteHeld notes that the latch is held, and its node.
func (e *sublatch) noteHeld(ev events.Event, out *engine.Outbox) { e.latchNode = ev.Path }

// noteLost notes that the latch is not held any more.
func (e *sublatch) noteLost(ev events.Event, out *engine.Outbox) { e.latchNode = "" }

// noteClosed notes that a latch has ended.
func (e *sublatch) noteClosed(ev events.Event, out *engine.Outbox) { e.openLatches-- }
