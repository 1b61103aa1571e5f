package machines

import (
	"cmp"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// staged makes a directory whose parents may be missing: what every recipe
// that creates a node shares.
type staged struct {
	dir    string
	top    uint64      // the create of the highest missing parent
	leaf   uint64      // that of the lowest
	above  refusal     // the first of one above the lowest
	parent events.Mode // what kind of parents the server can make
	hungUp bool        // it will end the connection, as old servers do after what they do not know
}

func newStaged(dir string) staged { return staged{dir: dir, parent: events.Container} }

// parentless is our create under a parent that does not exist and can be made:
// the root cannot.
func (f *staged) parentless(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/"
}

// containerless is a server that does not know container nodes.
func (f *staged) containerless(ev events.Event) bool {
	return ev.Code == events.Unimplemented && f.parent == events.Container
}

// leafMade is the lowest parent, there now.
func (f *staged) leafMade(ev events.Event) bool {
	return ev.Request == f.leaf && (ev.Code == events.OK || ev.Code == events.NodeExists)
}

// leafDelayed is the lowest parent, not to be made for now.
func (f *staged) leafDelayed(ev events.Event) bool {
	return ev.Request == f.leaf && f.blame(ev).Code.Passing()
}

// leafRefused is the lowest parent, not to be made.
func (f *staged) leafRefused(ev events.Event) bool { return ev.Request == f.leaf }

// found makes the missing parents, from the top, in one flight. Only the answer
// to the lowest decides: the others may exist, or be closed to us.
func (f *staged) found(ev events.Event, out *engine.Outbox) {
	f.top, f.above = 0, refusal{}
	for _, path := range ancestors(f.dir) {
		f.leaf = out.Create(path, f.parent, nil)
		f.top = cmp.Or(f.top, f.leaf)
	}
}

// noteAbove keeps why a parent above the lowest was not made. It may be there for
// all that: only where the lowest has none is it to blame.
func (f *staged) noteAbove(ev events.Event, out *engine.Outbox) {
	if ev.Request >= f.top && ev.Code != events.OK && ev.Code != events.NodeExists && f.above.code == events.OK {
		f.above = refusal{ev.Code, ev.Path, ev.Text}
	}
}

// blame is a refusal, by what it comes of where that is known.
func (f *staged) blame(ev events.Event) events.Event {
	if ev.Code == events.NoNode && f.above.code != events.OK {
		ev.Code, ev.Path, ev.Text = f.above.code, f.above.path, f.above.text
	}
	return ev
}

// foundPlain is found for a server that knows no containers.
func (f *staged) foundPlain(ev events.Event, out *engine.Outbox) {
	f.parent, f.hungUp = events.Persistent, true
	f.found(ev, out)
}
