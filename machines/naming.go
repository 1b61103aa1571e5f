package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// naming says how the nodes of a line are told apart.
type naming uint8

const (
	byGUID  naming = iota // each enrolment has a new GUID in its names, as Curator's
	byOwner               // names have no GUID: the node's owner does what the GUID does elsewhere
)

// fresh returns what the names of an enrolment have besides the label.
func (n naming) fresh(seed string, count uint64) string {
	if n == byOwner {
		return ""
	}
	return guid(seed, count)
}

// unique reports whether no other node can ever have the name.
func (n naming) unique() bool { return n == byGUID }

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
