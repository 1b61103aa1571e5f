package zkio

import (
	"errors"
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

	// send makes zk.Conn encode, number and write the request. It returns when zk.Conn has
	// got the answer; its error matters only if no frame was ever written.
	send func(*zk.Conn) error
	// read decodes the reply's body.
	read func(*body, *events.Event) Kept
	// deliver passes the reply to the caller. It is called exactly once.
	deliver func(events.Event, Kept)

	// Guarded by session.mu.
	caller   *caller // nil for a call of no machine
	order    uint64  // the place among the calls of its session
	started  bool
	answered bool
	sentAt   int64
	contact  int64 // when the last frame was sent of which the ensemble's leader surely knew by then
}

// newCall turns a request of a machine into a call.
func (a *Adapter) newCall(id events.ID, r events.Request) *call {
	header := r.Header()
	c := &call{id: id, number: header.Request, session: header.Session, lane: normal}
	if header.Urgent {
		c.lane = urgent
	}
	c.deliver = func(e events.Event, _ Kept) { a.post(id, e) }
	if header.Keep {
		c.deliver = func(e events.Event, kept Kept) {
			a.cfg.Keep(id, header.Request, kept)
			e.Data = nil
			a.post(id, e)
		}
	}
	size := 0
	switch r.(type) {
	case events.Get, events.Exists, events.Children, events.Sync:
		c.reads = true
	}
	switch r := r.(type) {
	case events.Create:
		c.kind, c.path, size = events.ReplyCreate, r.Path, len(r.Data)
		a.prepareCreate(c, r)
	case events.Delete:
		c.kind, c.path, c.lane = events.ReplyDelete, r.Path, deletes
		c.send = func(conn *zk.Conn) error { return conn.Delete(a.full(r.Path), -1) }
		c.read = func(*body, *events.Event) Kept { return Kept{} }
	case events.Get:
		c.kind, c.path, c.data = events.ReplyStat, r.Path, r.Data
		c.watchIf(r.Watch, dataWatch)
		c.send = func(conn *zk.Conn) error { _, _, err := conn.Get(a.full(r.Path)); return err }
		c.read = c.readGet
	case events.Exists:
		c.kind, c.path = events.ReplyStat, r.Path
		c.watchIf(r.Watch, existWatch)
		c.send = func(conn *zk.Conn) error { _, _, err := conn.Exists(a.full(r.Path)); return err }
		c.read = readStat
	case events.Children:
		c.kind, c.path = events.ReplyChildren, r.Path
		c.watchIf(r.Watch, childWatch)
		c.send = func(conn *zk.Conn) error { _, _, err := conn.Children(a.full(r.Path)); return err }
		c.read = readChildren
	case events.Sync:
		c.kind, c.path = events.ReplySync, r.Path
		c.send = func(conn *zk.Conn) error { _, err := conn.Sync(a.full(r.Path)); return err }
		c.read = func(b *body, _ *events.Event) Kept { b.string(); return Kept{} }
	case events.Multi:
		c.kind = events.ReplyMulti
		size = a.prepareMulti(c, r.Ops)
	default:
		c.refusal = fmt.Sprintf("%T is not a request of ZooKeeper", r)
	}
	a.refuse(c, size)
	return c
}

// refuse sets the refusal of a call that cannot be sent.
func (a *Adapter) refuse(c *call, size int) {
	const overhead = 1024 // headers, the ACL, lengths
	size += len(c.path) + len(a.cfg.Chroot) + overhead
	switch {
	case c.refusal != "":
	case c.kind != events.ReplyMulti && !strings.HasPrefix(c.path, "/"):
		c.refusal = fmt.Sprintf("path %q: a path begins with a slash", c.path)
	case size > a.cfg.MaxRequest:
		c.refusal = fmt.Sprintf("the request takes %d bytes, %d are allowed: see Config.MaxRequest", size, a.cfg.MaxRequest)
	}
}

func (a *Adapter) prepareCreate(c *call, r events.Create) {
	flags, known := modes[r.Mode]
	if !known {
		c.refusal = fmt.Sprintf("mode %q is not known", r.Mode)
		return
	}
	c.send = func(conn *zk.Conn) error {
		var err error
		switch path := a.full(r.Path); r.Mode {
		case events.Container:
			_, err = conn.CreateContainer(path, r.Data, flags, a.acl)
		case events.PersistentTTL, events.PersistentSequentialTTL:
			_, err = conn.CreateTTL(path, r.Data, flags, a.acl, r.TTL)
		default:
			_, err = conn.Create(path, r.Data, flags, a.acl)
		}
		return err
	}
	c.read = func(b *body, e *events.Event) Kept { e.Path = a.short(b.string()); return Kept{} }
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
var singleOnly = map[events.Mode]bool{events.Container: true, events.PersistentTTL: true, events.PersistentSequentialTTL: true}

// prepareMulti returns the size of the operations in bytes.
func (a *Adapter) prepareMulti(c *call, ops []events.Op) (size int) {
	requests := make([]any, len(ops))
	for i, op := range ops {
		size += len(op.Path) + len(a.cfg.Chroot) + len(op.Data) + 256
		if !strings.HasPrefix(op.Path, "/") {
			c.refusal = fmt.Sprintf("path %q: a path begins with a slash", op.Path)
		}
		path := a.full(op.Path)
		switch op.Verb {
		case "check":
			requests[i] = &zk.CheckVersionRequest{Path: path, Version: op.Version}
		case "delete":
			requests[i] = &zk.DeleteRequest{Path: path, Version: op.Version}
		case "set":
			requests[i] = &zk.SetDataRequest{Path: path, Data: op.Data, Version: op.Version}
		case "create":
			flags, known := modes[op.Mode]
			if !known || singleOnly[op.Mode] {
				c.refusal = fmt.Sprintf("mode %q cannot be made inside a multi", op.Mode)
			}
			requests[i] = &zk.CreateRequest{Path: path, Data: op.Data, Acl: a.acl, Flags: flags}
		default:
			c.refusal = fmt.Sprintf("verb %q is none of check, create, delete, set", op.Verb)
		}
	}
	if len(ops) == 0 {
		c.refusal = "a multi without operations"
	}
	c.send = func(conn *zk.Conn) error { _, err := conn.Multi(requests...); return err }
	c.read = func(b *body, e *events.Event) Kept { return a.readMulti(b, e, ops) }
	return size
}

// full puts the chroot before a path.
func (a *Adapter) full(path string) string {
	if path == "/" && a.cfg.Chroot != "" {
		return a.cfg.Chroot
	}
	return a.cfg.Chroot + path
}

// short takes the chroot off a path.
func (a *Adapter) short(path string) string {
	rest, inside := strings.CutPrefix(path, a.cfg.Chroot)
	if !inside {
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

// reason returns the text of an error of zk.Conn that kept a request from being written.
func reason(err error) string {
	switch {
	case err == nil:
		return "not written"
	case errors.Is(err, zk.ErrInvalidPath):
		return "not a valid path"
	}
	return err.Error()
}
