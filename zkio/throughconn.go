package zkio

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/events"
)

// With Config.ThroughConn, requests are encoded, numbered and written by zk.Conn, one at a
// time: the way of the first releases. It is there to find out whether the writer is at
// fault.

// sendThroughConn starts the next call, if its frame can follow immediately. One call at a
// time is between its start and its frame: so frames are sent in the order of the lanes,
// and each frame belongs to the call in the slot. s.mu is held.
func (s *session) sendThroughConn() {
	if s.slot != nil {
		return
	}
	c := s.lanes.next()
	for c != nil && s.withheld(s.wire, c) { // zk.Conn knows no recursive watches
		c = s.lanes.next()
	}
	if c == nil {
		return
	}
	s.slot, c.started = c, true
	s.a.work.Go(func() { s.freeSlot(c, s.a.sendBy(s.conn, c)) })
}

// freeSlot frees the slot of a call that never wrote a frame.
func (s *session) freeSlot(c *call, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.slot != c {
		return
	}
	s.slot = nil
	switch {
	case c.answered:
	case s.closing:
		s.answer(c, c.event(events.NotSent, "the session is being closed"), Kept{})
	default:
		c.refusal = reason(err)
		s.answer(c, c.event(events.NotSent, c.refusal), Kept{})
	}
	s.advance()
}

// admitCall assigns a frame of zk.Conn to the call in the slot, and reports whether it is to
// be written. It drops a frame that was in zk.Conn's queue when its connection ended: its
// call was answered then. s.mu is held.
func (s *session) admitCall(w *wire, xid int32, frame []byte) bool {
	c := s.slot
	s.slot = nil
	defer s.advance()
	if c == nil || c.answered || s.wire != w {
		return false
	}
	if c.unwanted() {
		c.watch = noWatch
	}
	if c.watch != noWatch {
		frame[len(frame)-1] = 1
	}
	s.noteSent(w, c, xid, s.a.cfg.Now())
	return true
}

// sendBy makes zk.Conn encode, number and write a request. It returns when zk.Conn has got
// the answer; its error matters only if no frame was ever written.
func (a *Adapter) sendBy(conn *zk.Conn, c *call) (err error) {
	switch r := c.request.(type) {
	case events.Create:
		if ops := r.Ops(); ops != nil {
			_, err = conn.Multi(a.opsOf(ops, c)...)
			break
		}
		switch path, acl := a.full(r.Path), a.access(c.list(0)); r.Mode {
		case events.Container:
			_, err = conn.CreateContainer(path, notNull(r.Data), modes[r.Mode], acl)
		case events.PersistentTTL, events.PersistentSequentialTTL:
			_, err = conn.CreateTTL(path, notNull(r.Data), modes[r.Mode], acl, r.TTL)
		default:
			_, err = conn.Create(path, notNull(r.Data), modes[r.Mode], acl)
		}
	case events.Delete:
		err = conn.Delete(a.full(r.Path), -1)
	case events.Get:
		_, _, err = conn.Get(a.full(r.Path))
	case events.Exists:
		_, _, err = conn.Exists(a.full(r.Path))
	case events.Children:
		_, _, err = conn.Children(a.full(r.Path))
	case getACL:
		_, _, err = conn.GetACL(a.full(r.path))
	case setACL:
		_, err = conn.SetACL(a.full(r.path), wireACL(r.list), r.version)
	case events.Sync:
		_, err = conn.Sync(a.full(r.Path))
	case events.Multi:
		_, err = conn.Multi(a.opsOf(r.Ops, c)...)
	}
	return err
}

// opsOf returns the operations of a multi as zk.Conn takes them.
func (a *Adapter) opsOf(ops []events.Op, c *call) []any {
	requests := make([]any, len(ops))
	for i, op := range ops {
		path := a.full(op.Path)
		switch op.Verb {
		case "check":
			requests[i] = &zk.CheckVersionRequest{Path: path, Version: op.Version}
		case "delete":
			requests[i] = &zk.DeleteRequest{Path: path, Version: op.Version}
		case "set":
			requests[i] = &zk.SetDataRequest{Path: path, Data: notNull(op.Data), Version: op.Version}
		case "create":
			requests[i] = &zk.CreateRequest{Path: path, Data: notNull(op.Data), Acl: a.access(c.list(i)),
				Flags: modes[op.Mode]}
		}
	}
	return requests
}

// notNull returns data as the own frames have it: zk.Conn would write nil as ZooKeeper's null.
func notNull(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
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
