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
	stood    bool        // and the lowest was there then
	obstacle refusal     // the lowest parent that could not be made, and why
	flight   events.Mode // what kind of parents was asked for last
	hungUp   bool        // the server will end the connection, as old ones do after what they do not know
}

// refusal is what stands in the way.
type refusal struct {
	code       events.Code
	path, text string
}

func newFounder(dir string) founder { return founder{dir: dir} }

// parentless is our create under a parent that does not exist and can be made:
// the root cannot, nor what could not be made a moment ago.
func (f *founder) parentless(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/" && !f.tried
}

// ofParent is the answer to the create of a parent.
func (f *founder) ofParent(ev events.Event) bool { return f.top <= ev.Request && ev.Request <= f.leaf }

// makeParents asks for the missing parents, from the top. Any of them may exist,
// or be closed to us. They are containers, which go when they are empty, unless
// some machine of this client has learned that the servers know none.
func (f *founder) makeParents(ev events.Event, out *engine.Outbox) {
	f.top, f.tried, f.stood, f.obstacle = 0, true, false, refusal{}
	f.flight = events.Container
	if ev.NoContainers {
		f.flight = events.Persistent
	}
	for _, path := range ancestors(f.dir) {
		f.leaf = out.Create(events.Op{Path: path, Mode: f.flight})
		f.top = cmp.Or(f.top, f.leaf)
	}
}

// noteParent keeps why a parent was not made. Where one below it is there it does
// not matter. That the servers know no containers is told to the session machine,
// which tells every machine that finds no parent from then on.
func (f *founder) noteParent(ev events.Event, out *engine.Outbox) {
	switch ev.Code {
	case events.OK, events.NodeExists:
		f.obstacle = refusal{}
		f.stood = f.stood || ev.Request == f.leaf
	case events.NoNode: // of those below it is only that this one is missing
		if ev.Request == f.top {
			f.obstacle = refusal{ev.Code, ev.Path, ev.Text}
		}
	case events.Unimplemented:
		if f.flight == events.Container {
			f.tried, f.hungUp = false, true
			out.Tell(events.SessionMachine, events.Event{Kind: events.ContainersUnknown, Path: ev.Path})
			return
		}
		f.obstacle = refusal{ev.Code, ev.Path, ev.Text}
	default:
		f.obstacle = refusal{ev.Code, ev.Path, ev.Text}
	}
}

// afresh is an attempt that knows nothing of earlier ones.
func (f *founder) afresh() { f.tried, f.stood, f.obstacle = false, false, refusal{} }

// blame is a refusal of our create, by what it comes of where that is known: a
// parent that could not be made, or one that was there and is gone again, as a
// container may be that was empty.
func (f *founder) blame(ev events.Event) events.Event {
	switch {
	case ev.Kind != events.ReplyCreate || ev.Code != events.NoNode:
	case f.obstacle.code != events.OK:
		ev.Code, ev.Path, ev.Text = f.obstacle.code, f.obstacle.path, f.obstacle.text
	case f.tried && f.stood:
		ev.Code, ev.Path = events.ParentGone, f.dir
	}
	return ev
}
