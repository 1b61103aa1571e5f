package small

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Refusals are faults that happen only if Config.Kinds names them. With the first two an
// operator forbids a client to list the line, or to read its own nodes, and never
// allows it again. With the third, one such read is refused. With the last, one create is carried out, and answered
// by a code that says nothing about it.
var Refusals = []string{noList: "no list", noRead: "no read", once: "refused once", byCode: "answered by a code"}

// refusal is what access rights do not let a client do.
type refusal uint8

const (
	nothing refusal = iota
	noList
	noRead
	once
	byCode
)

// names reports whether a refusal is among the faults.
func (c *Config) names(what refusal) bool { return slices.Contains(c.Kinds, Refusals[what]) }

// refusals lists what can be refused to clients. One client stays able.
func (w *world) refusals(into []step) []step {
	for i, c := range w.clients {
		for _, what := range []refusal{noList, noRead} {
			if w.names(what) && c.refused == nothing && w.ableWithout(i) {
				into = append(into, step{forbid, uint8(i), uint8(what), true})
			}
		}
		for r := range c.pending {
			if w.names(once) && c.link == sound && c.mayServe(w, r) && c.pending[r].readsOwn(c) {
				into = append(into, step{refuse, uint8(i), uint8(r), true})
			}
			if _, creates := c.pending[r].effect.(events.Create); creates && w.names(byCode) && c.link == sound &&
				c.mayServe(w, r) {
				into = append(into, step{misreport, uint8(i), uint8(r), true})
			}
		}
	}
	return into
}

// mayNot reports whether access rights refuse a request. A check reads, too.
func (c *client) mayNot(view *tree, r events.Request) bool {
	if _, lists := r.(events.Children); lists {
		return c.refused == noList
	}
	n, found := view.find(subject(r))
	return c.refused == noRead && found && n.who == c.id
}

// readsOwn reports whether a client's latch lists the line or reads its own node.
func (r request) readsOwn(c *client) bool {
	_, lists := r.effect.(events.Children)
	return lists || reads(r.effect) && subject(r.effect) == c.own()
}

// subject returns the path that a request reads or checks.
func subject(r events.Request) string {
	switch r := r.(type) {
	case events.Get:
		return r.Path
	case events.Exists:
		return r.Path
	case events.Multi:
		return r.Ops[0].Path
	}
	return ""
}
