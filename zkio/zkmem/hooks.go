//go:build !js

package zkmem

import (
	"sync"
	"time"
)

// Direction is a connection's side, seen from the server.
type Direction int

// The directions.
const (
	Inbound  Direction = 0 // what clients send
	Outbound Direction = 1 // replies and watch events
)

// Request is what an interceptor gets. A handshake is an OpCreateSession whose Session is the one that the client
// asks for, or 0. The Path of a multi is that of its first operation.
type Request struct {
	Session int64
	Op      OpCode
	Path    string
	Xid     int32
}

// Action is what the server does with a request.
type Action int

// The actions.
const (
	Serve     Action = iota // as without an interceptor
	Refuse                  // not done; answered with Verdict.Code (a handshake: "session expired")
	CutBefore               // not done; the connection is cut
	CutAfter                // done, but the reply is lost: the connection is cut
	LoseReply               // done, but the reply is lost; the connection goes on
	Ignore                  // neither done nor answered; the connection goes on
	Misreport               // done, but answered with Verdict.Code, as if it was not; the connection goes on
)

// Verdict is an interceptor's decision. The connection first waits for Delay to pass and Wait to be closed, if given;
// its later requests wait behind this one, those of other connections do not. Then the Action is taken. The zero
// Verdict serves the request.
type Verdict struct {
	Delay  time.Duration
	Wait   <-chan struct{}
	Action Action
	Code   Code
}

// wait returns false if the connection ended meanwhile.
func (v Verdict) wait(c *conn) bool {
	if v.Delay > 0 {
		timer := time.NewTimer(v.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.done:
			return false
		}
	}
	if v.Wait == nil {
		return true
	}
	select {
	case <-v.Wait:
		return true
	case <-c.done:
		return false
	}
}

// hooks has what tests have asked for. Its lock is never held while another is taken.
type hooks struct {
	mu           sync.Mutex
	interceptors []*func(Request) Verdict
	refusing     bool
	frozen       map[freeze]chan struct{}
	cuts         []cut
}

// freeze is a stopped direction of one session's connections, or of all (session 0).
type freeze struct {
	session int64
	dir     Direction
}

// cut is a limit for a future connection.
type cut struct {
	dir   Direction
	bytes int64
}

// Intercept calls decide with every handshake and request before it is served, pings included. decide runs on the
// connection's goroutine and may call the server. If there are several interceptors, the first that does not return
// Serve decides. The returned function removes the interceptor. A decide that is nil is none.
func (s *Server) Intercept(decide func(Request) Verdict) (remove func()) {
	if decide == nil {
		return func() {}
	}
	h := &s.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	entry := &decide
	h.interceptors = append(h.interceptors[:len(h.interceptors):len(h.interceptors)], entry)
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		var rest []*func(Request) Verdict
		for _, other := range h.interceptors {
			if other != entry {
				rest = append(rest, other)
			}
		}
		h.interceptors = rest
	}
}

func (h *hooks) ask(r Request) Verdict {
	h.mu.Lock()
	interceptors := h.interceptors
	h.mu.Unlock()
	for _, decide := range interceptors {
		if verdict := (*decide)(r); verdict != (Verdict{}) {
			return verdict
		}
	}
	return Verdict{}
}

// RefuseConnections makes the server close new connections immediately, until it is called with false.
func (s *Server) RefuseConnections(refuse bool) {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	s.hooks.refusing = refuse
}

// Freeze turns the server into a black hole in one direction, for the given sessions or, without any, for all present
// and future connections (a session's own connections freeze after their handshake). Inbound: nothing that clients
// send is read. Outbound: requests are served but nothing is sent. Sessions go on timing out. See Heal.
func (s *Server) Freeze(dir Direction, sessions ...int64) {
	if len(sessions) == 0 {
		sessions = []int64{0}
	}
	h := &s.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.frozen == nil {
		h.frozen = map[freeze]chan struct{}{}
	}
	for _, id := range sessions {
		if key := (freeze{id, dir}); h.frozen[key] == nil {
			h.frozen[key] = make(chan struct{})
		}
	}
}

// Heal ends every Freeze: what was held back goes on, in order.
func (s *Server) Heal() {
	h := &s.hooks
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, thaw := range h.frozen {
		close(thaw)
	}
	h.frozen = nil
}

// pass waits while a connection is frozen; it returns false if the connection ended meanwhile.
func (h *hooks) pass(c *conn, dir Direction) bool {
	for {
		h.mu.Lock()
		thaw := h.frozen[freeze{0, dir}]
		if thaw == nil {
			thaw = h.frozen[freeze{c.id.Load(), dir}]
		}
		h.mu.Unlock()
		if thaw == nil {
			return true
		}
		select {
		case <-thaw:
		case <-c.done:
			return false
		}
	}
}

// CutNext ends the next connection after this number of bytes in one direction: Inbound, once the server has read
// them (complete requests among them are still answered); Outbound, once it has sent them. Several calls concern one
// connection each, in order.
func (s *Server) CutNext(dir Direction, bytes int64) {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	s.hooks.cuts = append(s.hooks.cuts, cut{dir, bytes})
}

// admit decides whether a new connection is served.
func (h *hooks) admit(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refusing {
		return false
	}
	if len(h.cuts) > 0 {
		c.left[h.cuts[0].dir].Store(h.cuts[0].bytes)
		h.cuts = h.cuts[1:]
	}
	return true
}

// CutSession ends a session's present connection after this number of further bytes in one direction. With 0 bytes it
// ends when the next byte would pass; Disconnect ends it immediately. CutSession reports whether the session is
// connected.
func (s *Server) CutSession(id int64, dir Direction, bytes int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	if session == nil || session.conn == nil {
		return false
	}
	session.conn.left[dir].Store(bytes)
	return true
}

// Disconnect cuts a session's connection immediately and reports whether there was one. The session lives on.
func (s *Server) Disconnect(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	if session == nil || session.conn == nil {
		return false
	}
	session.conn.srv.drop(session.conn)
	s.notify()
	return true
}

// ExpireSession ends a session immediately, as if it had timed out: its nodes are deleted, its connection is cut. It
// reports whether there was such a session, and in an ensemble a leader with a quorum to end it.
func (s *Server) ExpireSession(id int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := s.sessions[id]
	if session == nil || s.member != nil && !s.member.ens.mayCommit() {
		return false
	}
	s.expire(session)
	s.notify()
	return true
}
