package machines

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// founder makes a directory whose parents may be missing: what every recipe
// that creates a node shares.
type founder struct {
	dir    string
	leaf   uint64      // the create of the lowest missing parent
	parent events.Mode // what kind of parents the server can make
	hungUp bool        // it will end the connection, as old servers do after what they do not know
}

func newFounder(dir string) founder { return founder{dir: dir, parent: events.Container} }

// parentless is our create under a parent that does not exist and can be made:
// the root cannot.
func (f *founder) parentless(ev events.Event) bool {
	return ev.Code == events.NoNode && f.dir != "/"
}

// containerless is a server that does not know container nodes.
func (f *founder) containerless(ev events.Event) bool {
	return ev.Code == events.Unimplemented && f.parent == events.Container
}

// leafMade is the lowest parent, there now.
func (f *founder) leafMade(ev events.Event) bool {
	return ev.Request == f.leaf && (ev.Code == events.OK || ev.Code == events.NodeExists)
}

// leafRefused is the lowest parent, not to be made.
func (f *founder) leafRefused(ev events.Event) bool { return ev.Request == f.leaf }

// found makes the missing parents, from the top, in one flight. Only the answer
// to the lowest decides: the others may exist, or be closed to us.
func (f *founder) found(ev events.Event, out *engine.Outbox) {
	for _, path := range ancestors(f.dir) {
		f.leaf = out.Create(path, f.parent, nil)
	}
}

// foundPlain is found for a server that knows no containers.
func (f *founder) foundPlain(ev events.Event, out *engine.Outbox) {
	f.parent, f.hungUp = events.Persistent, true
	f.found(ev, out)
}
