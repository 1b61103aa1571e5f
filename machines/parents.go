package machines

import (
	"cmp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// parentMaker creates a directory's missing parents, for every recipe that creates a node. It sends
// the creates of the parents together, from the top, and the create of the node itself behind them on
// the same connection: so the answer to the node's own create comes last, and decides. It needs no
// state of its own: a chart has one row for the answers about parents ([ofParent], noteParent), and
// one for the create that found a parent missing ([parentMissing], createWithParents).
type parentMaker struct {
	dir            string
	highestCreate  uint64   // the create of the highest missing parent
	lowestCreate   uint64   // that of the lowest; the numbers between are the others
	parentFailure  *failure // why the lowest parent that could not be created was refused; nil: none was
	above          int32    // how many bytes of dir are a node above the parents that may be created; 0: all may
	pending        int32    // creates of containers that are not answered
	tried          bool     // the parents were created, which is not done twice in a row
	parentExisted  bool     // a parent existed, or was created, when they were created last
	containers     bool     // the parents that were created last were to be containers
	willDisconnect bool     // the server will end the connection, as old ones do after a request that they do not know
}

// failure is why a request was refused, and on which path.
type failure struct {
	code       events.Code
	path, text string
}

// newParentMaker returns a maker of dir and its parents.
func newParentMaker(dir string) parentMaker { return parentMaker{dir: dir} }

// parentMissing reports whether the own create found no parent, and the parent can be created. The
// root cannot, nor what could not be created a moment ago.
func (f *parentMaker) parentMissing(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/" && !f.tried
}

// ofParent reports whether an answer is to the create of a parent.
func (f *parentMaker) ofParent(ev events.Event) bool {
	return f.highestCreate <= ev.Request && ev.Request <= f.lowestCreate
}

// makeParents creates the missing parents, from the top. Each may exist already, or be forbidden by an
// access list. They are containers, which the server deletes when they are empty, unless a machine of
// this client has learned that the servers know none. More are directories next to them.
func (f *parentMaker) makeParents(ev events.Event, out *engine.Outbox, more ...string) {
	f.highestCreate, f.tried, f.parentExisted, f.parentFailure = 0, true, false, nil
	f.containers = !ev.NoContainers
	mode := events.Persistent
	f.pending = 0
	all := append(f.mayCreate(), more...)
	if f.containers {
		mode, f.pending = events.Container, int32(len(all))
	}
	for _, path := range all {
		f.lowestCreate = out.Create(events.Op{Path: path, Mode: mode})
		f.highestCreate = cmp.Or(f.highestCreate, f.lowestCreate)
	}
}

// createBelow has only the missing parents below root created, if dir is below it.
func (f *parentMaker) createBelow(root string) {
	if strings.HasPrefix(f.dir, root+"/") {
		f.above = int32(len(root))
	}
}

// mayCreate returns the parents that may be created, from the top.
func (f *parentMaker) mayCreate() []string {
	all := ancestors(f.dir)
	if f.above > 0 {
		all = slices.DeleteFunc(all, func(path string) bool { return len(path) <= int(f.above) })
	}
	return all
}

// noteParent notes why a parent was not created. If one below it exists, that does not matter. If the
// servers know no containers, it tells the session machine, which stamps that on the events of all
// machines from then on.
func (f *parentMaker) noteParent(ev events.Event, out *engine.Outbox) {
	f.pending = max(0, f.pending-1)
	switch ev.Code {
	case events.OK, events.NodeExists:
		if f.parentFailure != nil && strings.HasPrefix(ev.Path, f.parentFailure.path+"/") {
			f.parentFailure = nil
		}
		f.parentExisted = true
	case events.NoNode: // the creates below fail only because this one is missing
		if ev.Request == f.highestCreate {
			f.parentFailure = &failure{ev.Code, ev.Path, ev.Text}
		}
	case events.Unimplemented:
		if f.containers {
			f.tried, f.willDisconnect = false, true
			out.Tell(events.SessionMachine, events.Event{Kind: events.ContainersUnknown, Path: ev.Path})
			return
		}
		f.parentFailure = &failure{ev.Code, ev.Path, ev.Text}
	default:
		f.parentFailure = &failure{ev.Code, ev.Path, ev.Text}
	}
}

// hasDisconnected reports whether the end of a connection may be the answer of a server that knows no containers, and
// forgets what was asked for on it.
func (f *parentMaker) hasDisconnected() bool {
	caused := f.willDisconnect || f.pending > 0
	f.willDisconnect, f.pending = false, 0
	return caused
}

// resetParents begins an attempt that knows nothing of earlier ones.
func (f *parentMaker) resetParents() {
	f.tried, f.parentExisted, f.parentFailure = false, false, nil
}

// rootCause returns the refusal of the own create with its cause, if that is known: a parent that
// could not be created, or one that existed and is gone again, as an empty container may be.
func (f *parentMaker) rootCause(ev events.Event) events.Event {
	switch {
	case ev.Kind != events.ReplyCreate || ev.Code != events.NoNode:
	case f.parentFailure != nil:
		ev.Code, ev.Path, ev.Text = f.parentFailure.code, f.parentFailure.path, f.parentFailure.text
	case f.tried && f.parentExisted:
		ev.Code, ev.Path = events.ParentGone, f.dir
	}
	return ev
}
