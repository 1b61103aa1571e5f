package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// founder makes a directory whose parents may be missing: what every recipe
// that creates a node shares. The parents are asked for in one flight, from the
// top, and the node itself behind them on the same connection; so the answer to
// the node's own create decides, and comes last. No state of its own is needed:
// a chart has one row for the parents' answers ([ofParent], noteParent), and one
// for the create that found none ([parentless], found).
type founder struct {
	dir      string
	top      uint64      // the create of the highest missing parent
	leaf     uint64      // that of the lowest; between them are the others
	tried    bool        // the parents were asked for; not twice in a row
	obstacle refusal     // the lowest parent that could not be made, and why
	parent   events.Mode // what kind of parents the server can make
	flight   events.Mode // and what kind was asked for last
	hungUp   bool        // it will end the connection, as old servers do after what they do not know
}

// refusal is what stands in the way.
type refusal struct {
	code       events.Code
	path, text string
}

func newFounder(dir string) founder { return founder{dir: dir, parent: events.Container} }

// parentless is our create under a parent that does not exist and can be made:
// the root cannot, nor what could not be made a moment ago.
func (f *founder) parentless(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/" && !f.tried
}

// ofParent is the answer to the create of a parent.
func (f *founder) ofParent(ev events.Event) bool { return f.top <= ev.Request && ev.Request <= f.leaf }

// makeParents asks for the missing parents, from the top. Any of them may exist,
// or be closed to us.
func (f *founder) makeParents(out *engine.Outbox) {
	f.top, f.tried, f.flight, f.obstacle = 0, true, f.parent, refusal{}
	for _, path := range ancestors(f.dir) {
		f.leaf = out.Create(path, f.parent, nil)
		f.top = cmp.Or(f.top, f.leaf)
	}
}

// noteParent keeps why a parent was not made. Where one below it is there it does
// not matter. A server that knows no containers is asked for plain parents next.
func (f *founder) noteParent(ev events.Event, out *engine.Outbox) {
	switch ev.Code {
	case events.OK, events.NodeExists:
		f.obstacle = refusal{}
	case events.NoNode:
	case events.Unimplemented:
		f.parent = events.Persistent
		f.tried = f.flight == f.parent
		f.hungUp = !f.tried
	default:
		f.obstacle = refusal{ev.Code, ev.Path, ev.Text}
	}
}

// afresh is an attempt that knows nothing of earlier ones.
func (f *founder) afresh() { f.tried, f.obstacle = false, refusal{} }

// blame is a refusal of our create, by what it comes of where that is known.
func (f *founder) blame(ev events.Event) events.Event {
	if ev.Kind == events.ReplyCreate && ev.Code == events.NoNode && f.obstacle.code != events.OK {
		ev.Code, ev.Path, ev.Text = f.obstacle.code, f.obstacle.path, f.obstacle.text
	}
	return ev
}
