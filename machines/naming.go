package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// naming is how the nodes of a line are told apart.
type naming interface {
	// fresh is what the names of an enrolment carry besides the label.
	fresh(seed string, count uint64) string
	// sure is a name that is one node's alone: of this session, on any connection.
	sure() bool
}

// byGUID are names with a GUID of each enrolment's own, as Curator's.
type byGUID struct{}

func (byGUID) fresh(seed string, count uint64) string { return guid(seed, count) }

func (byGUID) sure() bool { return true }

// byOwner are names without: what the GUID is for elsewhere, the owner is for.
type byOwner struct{}

func (byOwner) fresh(string, uint64) string { return "" }

func (byOwner) sure() bool { return false }

// ownerSearch is the search for nodes whose names carry no GUID, by their owner.
type ownerSearch struct {
	asked     int     // reads that are not answered
	ownPlaces []Place // those that this session owns
}

// askOwner asks whether the node that was ours still is: what was seen on
// another connection says nothing about a name that others can have, too.
func (p *place) askOwner(ev events.Event, out *engine.Outbox) {
	p.unknown = true
	p.askOwners([]Place{{Name: p.own}}, out)
}

// askOwners reads nodes without their data, which others may keep to themselves.
func (p *place) askOwners(places []Place, out *engine.Outbox) {
	p.ownerSearch = ownerSearch{asked: len(places)}
	for _, place := range places {
		out.Exists(join(p.dir, place.Name))
	}
}
