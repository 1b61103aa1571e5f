package machines

import (
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// contender is the part of a machine that may lead or hold: its own node, its term, its failures and
// its end. Places in lines, the semaphore and the job election share it.
type contender struct {
	id   string // the machine's own id
	seed string // the seed of its names

	retriedNode
	term
	health
}

// newContender returns a contender with the options that all of them have.
func newContender(open events.Event, o *options) contender {
	return contender{
		id: open.Name, seed: open.Seed,
		retriedNode: retriedNode{
			node:       node{ownDir: open.Path, data: open.Data, naming: byGUID, extras: newExtras(o)},
			retryState: newRetryState(open, o, nil),
		},
		term:   term{rideOut: o.flag(OptionRideOut)},
		health: newHealth(o),
	}
}

// nowConfirmed reports whether an answer lets the first in line lead.
func (p *contender) nowConfirmed(ev events.Event) bool {
	return ev.Code == events.OK && p.first && p.ownVerified() && confirmed(ev)
}

// inconclusive reports whether a check succeeded while the own node's watch had fired, or while no
// confirmation counts. If none has counted for a session timeout, that is a failure.
func (p *contender) inconclusive(ev events.Event) bool {
	return ev.Code == events.OK && (!p.ownVerified() || ev.AskAt != 0 && p.settles(ev))
}

// settles reports whether the contender waits until a confirmation counts. After a session timeout it asks for
// one, and what comes of it is a success or a failure.
func (p *contender) settles(ev events.Event) bool {
	return p.askedSince == 0 || time.Duration(ev.At-p.askedSince) < p.timeout
}
