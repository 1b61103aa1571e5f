package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// naming says how the nodes of a line are told apart.
type naming interface {
	// fresh returns what the names of an enrolment have besides the label.
	fresh(seed string, count uint64) string
	// unique reports whether no other node can ever have the name.
	unique() bool
}

// byGUID stands for names with a new GUID for each enrolment, as Curator's.
type byGUID struct{}

func (byGUID) fresh(seed string, count uint64) string { return guid(seed, count) }

func (byGUID) unique() bool { return true }

// byOwner stands for names without a GUID. The node's owner does what the GUID does elsewhere.
type byOwner struct{}

func (byOwner) fresh(string, uint64) string { return "" }

func (byOwner) unique() bool { return false }

// ownerSearch is the search for the own nodes by their owner, where names have no GUID.
type ownerSearch struct {
	asked     int     // reads that are pending
	ownPlaces []Place // the places that this session owns
}

// askOwner asks whether this session still owns the own node. What was seen on another connection says
// nothing about a name that other nodes can have, too.
func (p *place) askOwner(ev events.Event, out *engine.Outbox) {
	p.unknown = true
	p.askOwners([]Place{{Name: p.own}}, out)
}

// askOwners asks for the owners of nodes. It does not read their data, which access lists may forbid.
func (p *place) askOwners(places []Place, out *engine.Outbox) {
	p.ownerSearch = ownerSearch{asked: len(places)}
	for _, place := range places {
		out.Exists(join(p.dir, place.Name))
	}
}
