package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// parentMaker makes a directory whose parents may be missing: what every recipe
// that creates a node shares. The parents are asked for in one flight, from the
// top, and the node itself behind them on the same connection; so the answer to
// the node's own create decides, and comes last. No state of its own is needed:
// a chart has one row for the parents' answers ([ofParent], noteParent), and one
// for the create that found none ([parentMissing], found).
type parentMaker struct {
	dir            string
	highestCreate  uint64      // the create of the highest missing parent
	lowestCreate   uint64      // that of the lowest; between them are the others
	tried          bool        // the parents were asked for; not twice in a row
	parentExisted  bool        // and the lowest was there then
	parentFailure  failure     // the lowest parent that could not be made, and why
	parentMode     events.Mode // what kind of parents was asked for last
	willDisconnect bool        // the server will end the connection, as old ones do after what they do not know
}

// failure is what stands in the way.
type failure struct {
	code       events.Code
	path, text string
}

func newParentMaker(dir string) parentMaker { return parentMaker{dir: dir} }

// parentMissing is our create under a parent that does not exist and can be made:
// the root cannot, nor what could not be made a moment ago.
func (f *parentMaker) parentMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/" && !f.tried
}

// ofParent is the answer to the create of a parent.
func (f *parentMaker) ofParent(ev events.Event) bool {
	return f.highestCreate <= ev.Request && ev.Request <= f.lowestCreate
}

// makeParents asks for the missing parents, from the top. Any of them may exist,
// or be closed to us. They are containers, which go when they are empty, unless
// some machine of this client has learned that the servers know none.
func (f *parentMaker) makeParents(ev events.Event, out *engine.Outbox) {
	f.highestCreate, f.tried, f.parentExisted, f.parentFailure = 0, true, false, failure{}
	f.parentMode = events.Container
	if ev.NoContainers {
		f.parentMode = events.Persistent
	}
	for _, path := range ancestors(f.dir) {
		f.lowestCreate = out.Create(events.Op{Path: path, Mode: f.parentMode})
		f.highestCreate = cmp.Or(f.highestCreate, f.lowestCreate)
	}
}

// noteParent keeps why a parent was not made. Where one below it is there it does
// not matter. That the servers know no containers is told to the session machine,
// which tells every machine that finds no parent from then on.
func (f *parentMaker) noteParent(ev events.Event, out *engine.Outbox) {
	switch ev.Code {
	case events.OK, events.NodeExists:
		f.parentFailure = failure{}
		f.parentExisted = f.parentExisted || ev.Request == f.lowestCreate
	case events.NoNode: // of those below it is only that this one is missing
		if ev.Request == f.highestCreate {
			f.parentFailure = failure{ev.Code, ev.Path, ev.Text}
		}
	case events.Unimplemented:
		if f.parentMode == events.Container {
			f.tried, f.willDisconnect = false, true
			out.Tell(events.SessionMachine, events.Event{Kind: events.ContainersUnknown, Path: ev.Path})
			return
		}
		f.parentFailure = failure{ev.Code, ev.Path, ev.Text}
	default:
		f.parentFailure = failure{ev.Code, ev.Path, ev.Text}
	}
}

// resetParents is an attempt that knows nothing of earlier ones.
func (f *parentMaker) resetParents() {
	f.tried, f.parentExisted, f.parentFailure = false, false, failure{}
}

// rootCause is a refusal of our create, by what it comes of where that is known: a
// parent that could not be made, or one that was there and is gone again, as a
// container may be that was empty.
func (f *parentMaker) rootCause(ev events.Event) events.Event {
	switch {
	case ev.Kind != events.ReplyCreate || ev.Code != events.NoNode:
	case f.parentFailure.code != events.OK:
		ev.Code, ev.Path, ev.Text = f.parentFailure.code, f.parentFailure.path, f.parentFailure.text
	case f.tried && f.parentExisted:
		ev.Code, ev.Path = events.ParentGone, f.dir
	}
	return ev
}
