package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// maxReadBack is how many directories a client remembers in which it may read its own nodes. In one
// that is forgotten, the next enrolment takes a round trip more.
const maxReadBack = 1024

// pathSet is a set of at most maxReadBack paths. The oldest makes room for the next.
type pathSet struct {
	known  map[string]bool
	oldest []string
}

// add adds a path.
func (d *pathSet) add(path string) {
	if d.known[path] {
		return
	}
	if d.known == nil {
		d.known = map[string]bool{}
	}
	if len(d.oldest) == maxReadBack {
		delete(d.known, d.oldest[0])
		d.oldest = slices.Delete(d.oldest, 0, 1)
	}
	d.known[path], d.oldest = true, append(d.oldest, path)
}

// remove removes a path.
func (d *pathSet) remove(path string) {
	if d.known[path] {
		delete(d.known, path)
		d.oldest = slices.DeleteFunc(d.oldest, func(other string) bool { return other == path })
	}
}

// readBacks is where machines of a client have read back nodes of their own.
type readBacks struct{ readBack pathSet }

// StampOpen says, in the command that opens a place, whether a machine of this client has read back a
// node of its own in the directory. The client's credentials, and the access list of its nodes, are the
// same for all its life.
func (r *readBacks) StampOpen(ev *events.Event) {
	ev.ReadBack = ev.Options[OptionOneFlight] == "true" && r.readBack.known[ev.Path]
}

// noteReadBack notes such a directory, or that a node in it could not be read.
func (r *readBacks) noteReadBack(ev events.Event, out *engine.Outbox) {
	if ev.Code != events.OK {
		r.readBack.remove(ev.Path)
		return
	}
	r.readBack.add(ev.Path)
}
