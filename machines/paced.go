package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// paced is what the recipes share that create nodes again without a line: if somebody deletes their
// nodes again and again, the next one is created after a pause.
type paced struct {
	standalone
	deletions
	mustWait bool // the next node has to wait
}

// newPaced returns the shared part, with the option "retry".
func newPaced(open events.Event, o *options) paced { return paced{standalone: newStandalone(open, o)} }

// noteLost counts a node that somebody deleted.
func (p *paced) noteLost(ev events.Event) {
	p.countDeletion(ev)
	p.mustWait = p.deletedAgain()
}

// waitsToCreate reports whether the next node has to wait.
func (p *paced) waitsToCreate(events.Event) bool { return p.mustWait }

// pauseCreate reports that nodes are deleted again and again, and pauses before the next one.
func (p *paced) pauseCreate(ev events.Event, out *engine.Outbox) {
	out.DropPending()
	p.mustWait = false
	p.reportFailure(events.DeletedAgain, p.path, ev, out)
	out.Timer(backOffTimer, p.recreatePause(p.jitter.next()))
}
