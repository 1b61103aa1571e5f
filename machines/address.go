package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// advertised is the address that a place tells to others, in a node of its own. That node is created with the place, in
// one transaction: so it exists if the place does, unless somebody deletes it, and it is deleted with it. Nil is none.
type advertised struct {
	address string
	prefix  string // of the place's name
	left    string // the node of the last place, if somebody deleted that
	owner   int64  // the session that owns it
	doubted bool   // it may exist still
}

// newAdvertised returns the address of the options, nil without one, of places with this prefix.
func newAdvertised(o *options, prefix string) *advertised {
	if address := o.text(OptionAddress, ""); address != "" {
		return &advertised{address: address, prefix: prefix}
	}
	return nil
}

// with returns the creation of the node for a place that is being created.
func (a *advertised) with(place string, owner int64) events.Op {
	return events.Op{Path: AddressPath(place, a.prefix, owner), Mode: events.Ephemeral, Data: []byte(a.address)}
}

// remove deletes the node right before the place that it belongs to: the answer to that deletion says that this one was
// carried out.
func (a *advertised) remove(place string, owner int64, out *engine.Outbox) {
	if a != nil {
		out.With(engine.Unawaited).Delete(AddressPath(place, a.prefix, owner))
	}
}

// leave deletes the node of a place that somebody deleted.
func (a *advertised) leave(place string, owner int64, out *engine.Outbox) {
	if a != nil {
		a.left, a.owner = AddressPath(place, a.prefix, owner), owner
		out.With(engine.Unawaited).Delete(a.left)
	}
}

// doubt notes that this deletion may be lost with its connection.
func (a *advertised) doubt() {
	if a != nil {
		a.doubted = a.left != ""
	}
}

// removeLeft deletes the node that may be left, before the next place is created in the same session.
func (a *advertised) removeLeft(owner int64, out *engine.Outbox) {
	if a.doubted && a.owner == owner {
		out.With(engine.Unawaited).Delete(a.left)
	}
}

// settle notes that a place was created, behind that deletion.
func (a *advertised) settle() {
	if a != nil {
		a.left, a.doubted = "", false
	}
}
