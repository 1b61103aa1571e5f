package machines

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// foreignNode is another client's node with a name that is known, whose end a machine waits for. If an
// access list forbids to read the node, servers since 3.8.4 (and Debian's 3.8.0) spend a watch on it
// without an event. So the directory's children are watched in its place.
type foreignNode struct {
	foreign string // the node's path
	hidden  bool   // it may not be read, so the directory is watched
}

// watchDirectory lists the directory of a node that may not be read, with a watch.
func (f *foreignNode) watchDirectory(ev events.Event, out *engine.Outbox) {
	f.hidden = true
	out.With(engine.Watch).Children(parent(f.foreign))
}

// foreignHidden reports whether an answer says that the node may not be read.
func (f *foreignNode) foreignHidden(ev events.Event) bool {
	return ev.Kind == events.ReplyStat && ev.Path == f.foreign && ev.Code == events.NoAuth
}

// foreignListed reports whether a listing of the directory has the node.
func (f *foreignNode) foreignListed(ev events.Event) bool {
	return ev.Kind == events.ReplyChildren && ev.Code == events.OK && slices.Contains(ev.Children, base(f.foreign))
}

// foreignGone reports whether a read or a listing says that the node does not exist.
func (f *foreignNode) foreignGone(ev events.Event) bool {
	return ev.Code == events.NoNode || ev.Kind == events.ReplyChildren && ev.Code == events.OK && !f.foreignListed(ev)
}

// watchesDirectory reports whether path is that of the directory that is watched.
func (f *foreignNode) watchesDirectory(path string) bool {
	return f.hidden && path == parent(f.foreign)
}

// recheckForeign starts the timer of the next question whether the node is still there, at most a session
// timeout away: the right to read it may have been taken away after the watch was set.
func recheckForeign(timeout time.Duration, j *jitter, out *engine.Outbox) (timer uint64) {
	timeout = max(timeout, recheckPause)
	return out.Timer(recheckTimer, timeout*3/4+time.Duration(j.next()*float64(timeout/4)))
}

// recheckPause is how often a machine that waits for an event asks whether it has missed it. Another client's
// access list may forbid to read the node, or may have done so for a while, and then no watch reports what
// happens to it.
const recheckPause = 5 * time.Second

// recheckLater starts the timer of the next such question.
func recheckLater(out *engine.Outbox) (timer uint64) { return out.Timer(recheckTimer, recheckPause) }

// sameNode reports whether an answer says that a node is as it was read, or says nothing about it: the next
// answer may.
func sameNode(read events.Stat, ev events.Event) bool {
	if ev.Code != events.OK || ev.Stat == nil {
		return ev.Code.Transient()
	}
	return read.Czxid == ev.Stat.Czxid && read.Mzxid == ev.Stat.Mzxid && read.NumChildren == ev.Stat.NumChildren
}
