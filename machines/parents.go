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
	dir string
	parentCreates
}

// parentCreates is parentMaker for a machine that has the directory elsewhere.
type parentCreates struct {
	above int32        // how many bytes of the directory are a node above the parents that may be created; 0: all may
	round *parentRound // nil: no parents were created, or the own create has succeeded since
}

// parentRound is the last time that parents were created.
type parentRound struct {
	highestCreate  uint64   // the create of the highest missing parent
	lowestCreate   uint64   // that of the lowest; the numbers between are the others
	failure        *failure // why the lowest parent that could not be created was refused; nil: none was
	pending        int32    // creates of containers that are not answered
	tried          bool     // the parents were created, which is not done twice in a row
	existed        bool     // a parent existed, or was created
	containers     bool     // they were to be containers
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
func (f *parentMaker) parentMissing(ev events.Event) bool { return f.missingAbove(f.dir, ev) }

// makeParents is parentCreates.makeAbove for the directory.
func (f *parentMaker) makeParents(ev events.Event, out *engine.Outbox) { f.makeAbove(f.dir, ev, out) }

// rootCause is parentCreates.causeAbove for the directory.
func (f *parentMaker) rootCause(ev events.Event) events.Event { return f.causeAbove(f.dir, ev) }

// last returns a copy of the last round.
func (f *parentCreates) last() parentRound {
	if f.round == nil {
		return parentRound{}
	}
	return *f.round
}

// missingAbove is parentMissing for a directory.
func (f *parentCreates) missingAbove(dir string, ev events.Event) bool {
	return ev.Code == events.NoNode && dir != "/" && !f.last().tried
}

// ofParent reports whether an answer is to the create of a parent.
func (f *parentCreates) ofParent(ev events.Event) bool {
	last := f.last()
	return last.highestCreate <= ev.Request && ev.Request <= last.lowestCreate
}

// makeAbove creates the missing parents of a directory, from the top. Each may exist already, or be forbidden by an
// access list. They are containers, which the server deletes when they are empty, unless a machine of
// this client has learned that the servers know none. More are directories next to them.
func (f *parentCreates) makeAbove(dir string, ev events.Event, out *engine.Outbox, more ...string) {
	last := f.last()
	now := &parentRound{lowestCreate: last.lowestCreate, willDisconnect: last.willDisconnect, tried: true,
		containers: !ev.NoContainers}
	mode := events.Persistent
	all := append(f.mayCreate(dir), more...)
	if now.containers {
		mode, now.pending = events.Container, int32(len(all))
	}
	for _, path := range all {
		now.lowestCreate = out.Create(events.Op{Path: path, Mode: mode})
		now.highestCreate = cmp.Or(now.highestCreate, now.lowestCreate)
	}
	f.round = now
}

// createBelow has only the missing parents below root created, if dir is below it.
func (f *parentCreates) createBelow(root, dir string) {
	if strings.HasPrefix(dir, root+"/") {
		f.above = int32(len(root))
	}
}

// mayCreate returns the parents of a directory that may be created, from the top.
func (f *parentCreates) mayCreate(dir string) []string {
	all := ancestors(dir)
	if f.above > 0 {
		all = slices.DeleteFunc(all, func(path string) bool { return len(path) <= int(f.above) })
	}
	return all
}

// noteParent notes why a parent was not created. If one below it exists, that does not matter. If the
// servers know no containers, it tells the session machine, which stamps that on the events of all
// machines from then on.
func (f *parentCreates) noteParent(ev events.Event, out *engine.Outbox) {
	last := f.round
	last.pending = max(0, last.pending-1)
	switch ev.Code {
	case events.OK, events.NodeExists:
		if last.failure != nil && strings.HasPrefix(ev.Path, last.failure.path+"/") {
			last.failure = nil
		}
		last.existed = true
	case events.NoNode: // the creates below fail only because this one is missing
		if ev.Request == last.highestCreate {
			last.failure = &failure{ev.Code, ev.Path, ev.Text}
		}
	case events.Unimplemented:
		if last.containers {
			last.tried, last.willDisconnect = false, true
			out.Tell(events.SessionMachine, events.Event{Kind: events.ContainersUnknown, Path: ev.Path})
			return
		}
		last.failure = &failure{ev.Code, ev.Path, ev.Text}
	default:
		last.failure = &failure{ev.Code, ev.Path, ev.Text}
	}
}

// hasDisconnected reports whether the end of a connection may be the answer of a server that knows no containers, and
// forgets what was asked for on it.
func (f *parentCreates) hasDisconnected() bool {
	last := f.last()
	if f.round != nil {
		f.round.willDisconnect, f.round.pending = false, 0
	}
	return last.willDisconnect || last.pending > 0
}

// resetParents begins an attempt that knows nothing of earlier ones.
func (f *parentCreates) resetParents() {
	if f.round != nil {
		f.round.tried, f.round.existed, f.round.failure = false, false, nil
	}
}

// causeAbove returns the refusal of the own create with its cause, if that is known: a parent that
// could not be created, or one that existed and is gone again, as an empty container may be.
func (f *parentCreates) causeAbove(dir string, ev events.Event) events.Event {
	switch last := f.last(); {
	case ev.Kind != events.ReplyCreate || ev.Code != events.NoNode:
	case last.failure != nil:
		ev.Code, ev.Path, ev.Text = last.failure.code, last.failure.path, last.failure.text
	case last.tried && last.existed:
		ev.Code, ev.Path = events.ParentGone, dir
	}
	return ev
}
