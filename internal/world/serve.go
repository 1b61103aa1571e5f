package world

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// connect takes a client's handshake at a server.
func (s *Server) connect(c *Conn, session, seen int64, wish time.Duration) {
	if !s.Up() || !s.Serving() {
		c.closeByServer()
		return
	}
	if seen > s.tree.Zxid() {
		c.closeByServer()
		return
	}
	s.conns = append(s.conns, c)
	c.timeout = s.negotiate(wish)
	if session == 0 || s.ens.w.observer.Happens(OtherID) {
		s.createSession(c)
		return
	}
	for _, other := range s.conns { // the session's older connection here is cut
		if other != c && other.session == session {
			other.closeByServer()
			break
		}
	}
	s.toLeader(func(l *Server) {
		valid := l.validate(session, s, c.timeout)
		s.fromLeader(func() {
			if c.serverClosed {
				return
			}
			if !valid {
				c.send(frame{connectResponse: &connectResponse{}})
				c.closeByServer()
				return
			}
			c.session = session
			c.send(frame{connectResponse: &connectResponse{session, c.timeout}})
		})
	})
}

// createSession has the quorum create a session.
func (s *Server) createSession(c *Conn) {
	s.ens.lastID++
	id := s.ens.lastID
	op := zkmem.Op{Code: zkmem.OpCreateSession, Number: int32(c.timeout / time.Millisecond)}
	s.toLeader(func(l *Server) {
		if l.propose(zkmem.Caller{Session: id}, op, nil, nil) == nil {
			return
		}
		l.track(id)
		s.ens.grant(id, c.timeout)
		l.owner[id] = s
		zxid := l.zxid
		l.awaitSync(zxid, func() {
			s.fromLeader(func() {
				if !c.serverClosed {
					c.session = id
					c.send(frame{connectResponse: &connectResponse{id, c.timeout}})
				}
			})
		})
	})
}

// awaitSync runs something once all that was proposed up to a zxid is committed.
func (s *Server) awaitSync(zxid int64, done func()) {
	s.waitingSyncs = append(s.waitingSyncs, waitingSync{zxid, done})
	s.flushSyncs()
}

// ping takes a client's ping. Some servers answer it before requests that wait.
func (s *Server) ping(c *Conn) {
	s.touch(c)
	if len(c.queue) == 0 || s.ens.w.script.Seed%2 == 0 {
		c.send(frame{pong: true})
	}
}

// take takes a client's request.
func (s *Server) take(a *Packet) {
	c := a.Conn
	s.touch(c)
	c.queue = append(c.queue, a)
	req := a.Request
	if a.Feigned != nil {
		req = a.Feigned
	}
	switch r := req.(type) {
	case events.Create, events.Delete, events.Multi:
		s.write(a)
	case events.Sync:
		outcome := zkmem.Result{}
		if c.throttled() {
			outcome.Err = throttled
		}
		s.toLeader(func(l *Server) {
			l.awaitSync(l.zxid, func() { s.fromLeader(func() { a.answer(outcome, s.tree.Zxid()) }) })
		})
	case events.Get:
		a.read = func() { s.get(a, r.Path, r.Watch, r.Data) }
	case events.Exists:
		a.read = func() { s.exists(a, r.Path, r.Watch) }
	case events.Children:
		a.read = func() { s.list(a, r) }
	case events.AddWatch:
		a.read = func() { s.addWatch(a, r.Path) }
	}
	if a.read != nil && c.throttled() {
		a.read = func() { a.result.Err, a.zxid = throttled, s.tree.Zxid() }
	}
	c.answerQueue()
}

// write sends a request through the quorum.
func (s *Server) write(a *Packet) {
	op := operation(a.Request)
	session := a.Conn.session
	bare := s.ens.w.observer.Happens(NoContainers) && op.Code == zkmem.OpCreateContainer
	refused := !bare && a.Conn.throttled()
	unserved := a.Conn.refuses(op.Code)
	s.toLeader(func(l *Server) {
		if owner := l.owner[session]; bare || refused || unserved != 0 || owner != nil && owner != s ||
			l.closing[session] {
			a.result.Err = zkmem.SessionMoved
			switch {
			case bare:
				a.result.Err = zkmem.Unimplemented
			case refused:
				a.result.Err = throttled
			case l.closing[session]:
				a.result.Err = zkmem.SessionExpired
			case unserved != 0:
				a.result.Err = unserved
			}
			code := a.result.Err
			l.awaitSync(l.zxid, func() {
				s.fromLeader(func() { a.refuse(code) })
			})
			return
		}
		if who := (zkmem.Caller{Session: session, Auth: a.identities()}); !s.postpone(l, a, who, op) {
			l.propose(who, op, a, s)
		}
	})
}

// throttled reports whether a server refuses the next request, by dice or after
// Client.Throttle.
func (c *Conn) throttled() bool {
	return c.w.now < c.x.throttledUntil || c.w.observer.Happens(Throttled)
}

// throttled is ZooKeeper's THROTTLEDOP.
const throttled zkmem.Code = -127

var modes = map[events.Mode]zkmem.Mode{events.Ephemeral: zkmem.Ephemeral,
	events.EphemeralSequential:  zkmem.EphemeralSequential,
	events.PersistentSequential: zkmem.PersistentSequential}

func operation(r events.Request) zkmem.Op {
	switch r := r.(type) {
	case events.Create:
		if ops := r.Ops(); ops != nil {
			return operation(events.Multi{Ops: ops})
		}
		op := zkmem.Op{Code: zkmem.OpCreate, Path: r.Path, Data: r.Data, ACL: zkmem.OpenACL()}
		if op.Mode = modes[r.Mode]; r.Mode == events.Container {
			op.Code = zkmem.OpCreateContainer
		}
		return op
	case events.Delete:
		return zkmem.Op{Code: zkmem.OpDelete, Path: r.Path, Version: zkmem.AnyVersion}
	case events.Multi:
		op := zkmem.Op{Code: zkmem.OpMulti}
		codes := map[string]zkmem.OpCode{"check": zkmem.OpCheck, "delete": zkmem.OpDelete, "set": zkmem.OpSetData,
			"create": zkmem.OpCreate}
		for _, sub := range r.Ops {
			op.Ops = append(op.Ops,
				zkmem.Op{Code: codes[sub.Verb], Path: sub.Path, Data: sub.Data, Mode: modes[sub.Mode],
					Version: sub.Version, ACL: zkmem.OpenACL()})
		}
		return op
	}
	return zkmem.Op{}
}

func (s *Server) get(a *Packet, path string, watch, data bool) {
	a.zxid = s.tree.Zxid()
	bytes, stat, err := s.tree.Get(path)
	if err == nil {
		err = s.tree.Allowed(path, zkmem.PermRead, a.identities())
	}
	if err != nil {
		a.result.Err = err.(zkmem.Code)
		return
	}
	a.stat = Stat(stat)
	if data {
		a.data = bytes
	}
	if watch {
		s.watches.Add(zkmem.DataWatch, path, a.Conn)
	}
}

func (s *Server) exists(a *Packet, path string, watch bool) {
	a.zxid = s.tree.Zxid()
	_, stat, err := s.tree.Get(path)
	if watch {
		s.watches.Add(zkmem.DataWatch, path, a.Conn)
	}
	if err != nil {
		a.result.Err = err.(zkmem.Code)
		return
	}
	a.stat = Stat(stat)
}

func (s *Server) list(a *Packet, r events.Children) {
	a.zxid = s.tree.Zxid()
	names, stat, err := s.tree.Children(r.Path)
	if err == nil {
		err = s.tree.Allowed(r.Path, zkmem.PermRead, a.identities())
	}
	if err != nil {
		a.result.Err = err.(zkmem.Code)
		return
	}
	a.stat = Stat(stat)
	a.stat.Pzxid = stat.Pzxid
	a.Children = shuffled(a.Conn.x.c.dice.roll(orderDice), names)
	if r.Watch {
		s.watches.Add(zkmem.ChildWatch, r.Path, a.Conn)
	}
}

// Stat returns a node's stat as machines get it.
func Stat(s zkmem.Stat) *events.Stat {
	return &events.Stat{Czxid: s.Czxid, Mzxid: s.Mzxid, EphemeralOwner: s.EphemeralOwner, Version: s.Version,
		NumChildren: s.NumChildren, Mtime: s.Mtime}
}

// setWatches sets a session's watches again on a new connection. What changed since
// the zxid that the client has seen is told at once.
func (s *Server) setWatches(c *Conn, since int64, all []armed) {
	s.touch(c)
	deleted, absent := map[string]bool{}, []string(nil)
	for _, a := range all {
		_, stat, err := s.tree.Get(a.path)
		kind, fired := zkmem.DataWatch, zkmem.EventType(0)
		switch {
		case a.child:
			kind = zkmem.ChildWatch
			if err != nil {
				fired = zkmem.NodeDeleted
			} else if stat.Pzxid > since {
				fired = zkmem.NodeChildrenChanged
			}
		case a.missing:
			if err == nil {
				fired = zkmem.NodeCreated
			}
		case err != nil:
			fired = zkmem.NodeDeleted
		case stat.Mzxid > since:
			fired = zkmem.NodeDataChanged
		}
		if fired != 0 {
			deleted[a.path] = deleted[a.path] || fired == zkmem.NodeDeleted
			c.send(frame{watch: fired, path: a.path, zxid: s.eventZxid(s.tree.Zxid())})
			continue
		}
		if a.missing {
			absent = append(absent, a.path)
		}
		s.watches.Add(kind, a.path, c)
	}
	for _, path := range absent {
		if deleted[path] {
			c.unclaimed++ // the client takes NodeDeleted for the end of all that it watches there
		}
	}
	c.send(frame{watchesSet: true})
}

// syncProbe takes a probe's sync: the reply has the ensemble's zxid.
func (s *Server) syncProbe(c *Conn) {
	s.toLeader(func(l *Server) {
		l.awaitSync(l.zxid, func() { s.fromLeader(func() { c.send(frame{synced: true, zxid: s.tree.Zxid()}) }) })
	})
}

// closeSession takes a client's closeSession.
func (s *Server) closeSession(c *Conn) {
	session := c.session
	s.toLeader(func(l *Server) {
		if l.closing[session] {
			return
		}
		l.closing[session] = true
		delete(l.tracker, session)
		l.propose(zkmem.Caller{Session: session}, zkmem.Op{Code: zkmem.OpCloseSession}, nil, s)
	})
}

// shuffled returns a listing in any order: ZooKeeper promises none.
func shuffled(d *rand.Rand, names []string) []string {
	all := slices.Clone(names)
	d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}
