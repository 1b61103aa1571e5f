package zkio

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
)

// call is one request, from the effect to its one reply.
type call struct {
	id      events.ID
	kind    events.Kind // of the reply
	number  uint64
	session int64
	lane    int
	path    string // as in the request, without the chroot
	watch   watchKind
	data    bool   // the event gets the node's data
	reads   bool   // it changes nothing: only the machine that sent it needs the reply
	refusal string // why it cannot be sent at all
	size    int    // of its frame in bytes, or a little less than this

	request events.Request
	lists   [][]ACL // of the nodes that it creates: no machine has them
	a       *coding
	keep    bool                     // the data in the reply go to Config.Keep
	onReply func(events.Event, Kept) // gets the reply to a call of no machine

	// Guarded by session.mu.
	caller   *caller // nil for a call of no machine
	waiter   uint32  // the order of the one that waits for the watch that the call sets
	unparks  int     // how often it looked whether it may be sent alone
	order    uint64  // the place among the calls of its session
	started  bool
	answered bool
	sentAt   int64
	contact  int64 // when the last frame was sent of which the ensemble's leader surely knew by then
}

// newCall turns a request of a machine into a call. The access lists are those of the nodes that it creates, by the
// places of its operations: nil, or none, is Config.ACL.
func (a *coding) newCall(id events.ID, r events.Request, lists ...[]ACL) *call {
	header := r.Header()
	c := &call{a: a, id: id, number: header.Request, session: header.Session, lane: normal, request: r,
		keep: header.Keep, lists: lists}
	if header.Urgent {
		c.lane = urgent
	}
	size := 0
	switch r := r.(type) {
	case events.Create:
		c.kind, c.path, size = events.ReplyCreate, r.Path, len(r.Data)+a.accessSize(c.list(0))
		if ops := r.Ops(); ops != nil {
			size = a.checkMulti(c, ops)
		}
		if _, known := modes[r.Mode]; !known {
			c.refusal = fmt.Sprintf("mode %s is not known", events.Quote(string(r.Mode), events.MaxText))
		}
	case events.Delete:
		c.kind, c.path, c.lane = events.ReplyDelete, r.Path, deletes
	case events.Get:
		c.kind, c.path, c.data, c.reads = events.ReplyStat, r.Path, r.Data, true
		c.watchIf(r.Watch, dataWatch)
	case events.Exists:
		c.kind, c.path, c.reads = events.ReplyStat, r.Path, true
		c.watchIf(r.Watch, existWatch)
	case events.Children:
		c.kind, c.path, c.reads = events.ReplyChildren, r.Path, true
		c.watchIf(r.Watch, childWatch)
	case events.AddWatch:
		c.kind, c.path, c.reads, c.watch = events.ReplyWatch, r.Path, true, treeWatch
	case events.Sync:
		c.kind, c.path, c.reads = events.ReplySync, r.Path, true
	case getACL:
		c.kind, c.path, c.reads = events.ReplyStat, r.path, true
	case setACL:
		c.kind, c.path, size = events.ReplyStat, r.path, sizeOfACL(r.list)
	case events.Multi:
		c.kind = events.ReplyMulti
		size = a.checkMulti(c, r.Ops)
	default:
		c.refusal = fmt.Sprintf("%T is not a request of ZooKeeper", r)
	}
	a.refuse(c, size)
	return c
}

// deliver passes the reply to the caller. It is called exactly once.
func (c *call) deliver(e events.Event, kept Kept) {
	if c.onReply != nil {
		c.onReply(e, kept)
		return
	}
	if c.keep {
		c.a.cfg.Keep(c.id, c.number, kept)
		e.Data = nil
	}
	c.a.post(c.id, e)
}

// refuse sets the refusal of a call that cannot be sent.
func (a *coding) refuse(c *call, size int) {
	const overhead = 1024 // headers, lengths
	size += len(c.path) + len(a.cfg.Chroot) + overhead
	c.size = size
	switch {
	case c.refusal != "":
	case c.kind != events.ReplyMulti && !strings.HasPrefix(c.path, "/"):
		c.refusal = fmt.Sprintf("path %s: a path begins with a slash", events.Quote(c.path, events.MaxText))
	case size > a.cfg.MaxRequest:
		c.refusal = fmt.Sprintf("the request takes %d bytes, %d are allowed: see Config.MaxRequest", size,
			a.cfg.MaxRequest)
	case c.kind != events.ReplyMulti && !validPath(a.full(c.path), c.sequential()):
		c.refusal = "not a valid path"
	}
}

// sequential reports whether a call creates a node whose name gets a number.
func (c *call) sequential() bool {
	r, creates := c.request.(events.Create)
	return creates && modes[r.Mode]&zk.FlagSequence != 0
}

var modes = map[events.Mode]int32{
	events.Persistent:              zk.FlagPersistent,
	events.PersistentSequential:    zk.FlagSequence,
	events.Container:               zk.FlagContainer,
	events.Ephemeral:               zk.FlagEphemeral,
	events.EphemeralSequential:     zk.FlagEphemeralSequential,
	events.PersistentTTL:           zk.FlagTTL,
	events.PersistentSequentialTTL: zk.FlagPersistentSequentialWithTTL,
}

// singleOnly has the modes that need a request of their own.
var singleOnly = map[events.Mode]bool{events.Container: true, events.PersistentTTL: true,
	events.PersistentSequentialTTL: true}

// checkMulti sets the refusal of a multi that is not one, and returns the size of its
// operations in bytes.
func (a *coding) checkMulti(c *call, ops []events.Op) (size int) {
	for i, op := range ops {
		size += len(op.Path) + len(a.cfg.Chroot) + len(op.Data) + 256
		if op.Verb == "create" {
			size += a.accessSize(c.list(i))
		}
		_, known := modes[op.Mode]
		switch {
		case !strings.HasPrefix(op.Path, "/"):
			c.refusal = fmt.Sprintf("path %s: a path begins with a slash", events.Quote(op.Path, events.MaxText))
		case verbs[op.Verb] == 0:
			c.refusal = fmt.Sprintf("verb %s is none of check, create, delete, set",
				events.Quote(op.Verb, events.MaxText))
		case op.Verb == "create" && (!known || singleOnly[op.Mode]):
			c.refusal = fmt.Sprintf("mode %s cannot be made inside a multi",
				events.Quote(string(op.Mode), events.MaxText))
		}
	}
	if len(ops) == 0 {
		c.refusal = "a multi without operations"
	}
	return size
}

// full puts the chroot before a path.
func (a *coding) full(path string) string {
	switch {
	case path == "/" && a.cfg.Chroot != "":
		return a.cfg.Chroot
	case a.unrooted(path):
		return path
	}
	return a.cfg.Chroot + path
}

// unrooted reports whether no chroot applies to a path.
func (a *coding) unrooted(path string) bool { return path != "" && path == a.cfg.Unrooted }

// short takes the chroot off a path.
func (a *coding) short(path string) string {
	rest, inside := strings.CutPrefix(path, a.cfg.Chroot)
	switch {
	case !inside, a.unrooted(path), rest != "" && rest[0] != '/':
		return path
	}
	if rest == "" {
		return "/"
	}
	return rest
}

func (c *call) watchIf(wanted bool, kind watchKind) {
	if wanted {
		c.watch = kind
	}
}

// event returns a reply that no server sent.
func (c *call) event(code events.Code, text string) events.Event {
	return events.Event{
		Kind: c.kind, Session: c.session, Request: c.number, Path: c.path,
		Code: code, Text: text, SentAt: c.sentAt, Contact: c.contact,
	}
}

// watchKind is the kind of request that sets a watch.
type watchKind int

const (
	noWatch    watchKind = iota
	dataWatch            // get: spent by a change of the data or by deletion
	existWatch           // exists: the same, and on a missing node by creation
	childWatch           // children: spent by a change of the list or by deletion
	treeWatch            // addWatch: lasts as long as the connection, see treeWatches
)

func (a *coding) post(to events.ID, e events.Event) {
	a.cfg.Post(events.Envelope{To: to, Event: e})
}
