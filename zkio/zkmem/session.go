//go:build !js

package zkmem

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// session is a client's session, which outlives its connections. Guarded by Server.mu.
type session struct {
	id       int64
	timeout  time.Duration
	deadline time.Time
	timer    *time.Timer
	conn     *conn   // nil while no connection is attached
	owner    *member // of an ensemble, where its client was connected last
}

// firstSessionID returns an id as of a real server with this number: the clock's lower 40 bits above 16 bits of
// counter.
func firstSessionID(now time.Time, server byte) int64 {
	return int64(uint64(now.UnixMilli())<<24>>8 | uint64(server)<<56)
}

// password returns the password that proves a session's ownership.
func (s *Server) password(id int64) []byte {
	mac := hmac.New(sha256.New, s.secret[:])
	binary.Write(mac, binary.BigEndian, id)
	return mac.Sum(nil)[:16]
}

// negotiate clamps the timeout that a client asks for to what the server grants.
func (s *Server) negotiate(ms int32) time.Duration {
	asked := time.Duration(ms) * time.Millisecond
	return min(max(asked, s.opts.MinSessionTimeout), s.opts.MaxSessionTimeout)
}

// SetSessionTimeouts sets the shortest and the longest session timeout that is granted from now on, as another server
// of an ensemble may have them. A session that goes on keeps its timeout until it comes back on a new connection. It
// panics unless 0 < shortest ≤ longest.
func (s *Server) SetSessionTimeouts(shortest, longest time.Duration) {
	mustBeLimits(shortest, longest)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opts.MinSessionTimeout, s.opts.MaxSessionTimeout = shortest, longest
}

// mustBeLimits panics if no timeout is within the limits. ZooKeeper does not start with such.
func mustBeLimits(shortest, longest time.Duration) {
	if shortest <= 0 || shortest > longest {
		panic(fmt.Sprintf("zkmem: session timeouts from %s to %s: the shortest has to be positive, and at most "+
			"the longest", shortest, longest))
	}
}

func milliseconds(d time.Duration) int32 { return int32(d / time.Millisecond) }

func (s *Server) createSession(timeout time.Duration) *session {
	s.lastID++
	id := s.lastID
	s.commit(Caller{Session: id}, Op{Code: OpCreateSession, Number: milliseconds(timeout)})
	return s.track(id, timeout)
}

// track starts the timer of a session of the tree.
func (s *Server) track(id int64, timeout time.Duration) *session {
	session := &session{id: id, timeout: timeout}
	s.sessions[id] = session
	s.touch(session)
	session.timer = time.AfterFunc(time.Until(session.deadline), func() { s.checkExpiry(session) })
	return session
}

// touch renews a session's timeout, up to the next tick boundary after it.
func (s *Server) touch(session *session) {
	ticks := (time.Since(s.start)+session.timeout)/s.opts.Tick + 1
	session.deadline = s.start.Add(ticks * s.opts.Tick)
}

func (session *session) arm() { session.timer.Reset(time.Until(session.deadline)) }

// checkExpiry runs when a session's timer fires: the deadline may have moved since it was armed.
func (s *Server) checkExpiry(session *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[session.id] != session || s.member == nil && s.stopped || s.member != nil && s.member.ens.closed {
		return
	}
	if time.Now().Before(session.deadline) {
		session.arm()
		return
	}
	s.expire(session)
	s.notify()
}

// expire ends a session from the server's side: it cuts the session's connection without a reply.
func (s *Server) expire(session *session) {
	if s.member != nil {
		s.member.ens.expire(session)
		return
	}
	s.endSession(session)
	if session.conn != nil {
		s.drop(session.conn)
	}
}

// endSession deletes the session and its nodes. The connection stays.
func (s *Server) endSession(session *session) {
	if s.member != nil { // the session of a read-only client
		delete(s.member.local, session.id)
		return
	}
	session.timer.Stop()
	delete(s.sessions, session.id)
	s.commit(Caller{Session: session.id}, Op{Code: OpCloseSession})
}

// introduce answers a handshake, perhaps after a while.
func (s *Server) introduce(c *conn, h handshake) (*session, []byte) {
	if s.member != nil {
		return s.member.introduce(c, h)
	}
	return s.connect(c, h)
}

// readOnly reports whether the server serves only read-only clients.
func (s *Server) readOnly() bool {
	return s.opts.ReadOnly || s.member != nil && s.member.readOnly
}

// connect answers a handshake. A nil session means that the connection has to be closed after the answer, if any, was
// sent.
func (s *Server) connect(c *conn, h handshake) (*session, []byte) {
	if s.opts.ReadOnly && !h.readOnly || s.lagsBehind(h) {
		return nil, nil
	}
	timeout := s.negotiate(h.timeout)
	var found *session
	if h.session == 0 || s.opts.NewSessionIDOnReattach {
		found = s.createSession(timeout)
	} else {
		found = s.sessions[h.session]
		if found != nil && found.conn != nil {
			s.drop(found.conn)
		}
		if found == nil || !hmac.Equal(h.password, s.password(h.session)) {
			return nil, h.expired()
		}
		found.timeout = timeout
		s.touch(found)
		found.arm()
	}
	found.conn = c
	c.attach(found)
	return found, h.reply(milliseconds(timeout), found.id, s.password(found.id), s.opts.ReadOnly)
}

// lagsBehind reports whether the client has seen more than the server has.
func (s *Server) lagsBehind(h handshake) bool { return !h.keeper && h.seen > s.tree.Zxid() }

// introduceAgain carries out a createSession that a client sends as a request: a real server begins the session again
// and sends the reply to its handshake a second time.
func (s *Server) introduceAgain(c *conn) {
	ms := milliseconds(c.session.timeout)
	s.commit(Caller{Session: c.session.id}, Op{Code: OpCreateSession, Number: ms})
	s.sendIntroduction(c)
}

// sendIntroduction sends the reply to a connection's handshake again.
func (s *Server) sendIntroduction(c *conn) {
	c.send(handshake{modern: true}.reply(milliseconds(c.session.timeout), c.session.id,
		s.password(c.session.id), s.readOnly()))
	c.use.replied(OpCreateSession, 0, s.tree.Zxid())
	s.sent++
}

// refused returns the answer of a server that does not serve: a session that has expired, or another protocol version.
func (s *Server) refused(h handshake) []byte {
	if s.opts.RefusalVersion == 0 {
		return h.expired()
	}
	answer := h.reply(milliseconds(s.negotiate(h.timeout)), -1, make([]byte, 16), false)
	binary.BigEndian.PutUint32(answer[4:], uint32(s.opts.RefusalVersion)) // behind the length
	return answer
}

func (h handshake) expired() []byte { return h.reply(0, 0, make([]byte, 16), false) }
