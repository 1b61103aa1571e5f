package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// position is where a contender is in its line, as far as the listings and reads of the present connection show: who is
// ahead, whether it may lead, and which nodes have the GUID of its enrolment.
type position struct {
	label string // what is before the number in the node's name

	contender
	line
	flight
	sides  bool // a read-write lock's: in the line are places with the label of the other side, too
	tries  bool // an acquisition's: it never waits behind another place
	shared bool // places with the own label hold together with this one, which does not wait for them
}

// The labels of the lines that most places are in. Nothing changes them.
var (
	latchLabels     = []string{LatchLabel}
	lockLabels      = []string{LockLabel}
	sideLabels      = []string{WriteLabel, ReadLabel}
	kazooSideLabels = []string{KazooLabel, KazooReadLabel}
)

// lineLabels returns the labels of all places in the line, the own one among them.
func (p *position) lineLabels() []string {
	switch {
	case p.sides && slices.Contains(kazooSideLabels, p.label):
		return kazooSideLabels
	case p.sides:
		return sideLabels
	case p.label == LatchLabel:
		return latchLabels
	case p.label == LockLabel:
		return lockLabels
	}
	return []string{p.label}
}

// Watches reports which nodes matter: the own one and the predecessor, or the directory in place of
// the predecessor.
func (p *position) Watches(path string) bool {
	return p.mine(path) || p.ahead(path) || p.hidden && path == p.ownDir
}

// duplicates returns the places that have the enrolment's GUID, lowest first. If the own name has no
// GUID, they are all places without one.
func (p *position) duplicates(children []string) []Place {
	return ofGUID(children, p.guid, p.lineLabels()...)
}

// recovered reports whether a listing shows the node of a create whose reply was lost.
func (p *position) recovered(ev events.Event) bool {
	return p.unknown && ev.Code == events.OK && len(p.duplicates(ev.Children)) > 0
}

// notMade reports whether a listing behind a sync does not show the node of a create whose reply was
// lost.
func (p *position) notMade(ev events.Event) bool {
	return p.unknown && (ev.Code == events.NoNode || ev.Code == events.OK && len(p.duplicates(ev.Children)) == 0)
}

// noneMade reports whether the create surely created nothing: it was refused, or notMade holds.
func (p *position) noneMade(ev events.Event) bool {
	if ev.Kind == events.ReplyCreate {
		return ev.Code != events.OK && !ev.Code.Unknown()
	}
	return p.notMade(ev)
}

// discard deletes nodes with the own GUID other than the lowest.
func (p *position) discard(found []Place, out *engine.Outbox) {
	for _, t := range found {
		out.With(engine.Unawaited).Delete(join(p.ownDir, t.Name))
	}
	p.purged = true
}
