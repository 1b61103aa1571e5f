//go:build !js

package zkmem

import (
	"crypto/hmac"
	"slices"
	"time"
)

// introduce answers a handshake at a member of an ensemble: the leader has to create a session, or to know it. A nil
// session means that the connection has to be closed. It waits until the answer is there, at most for HandshakeTimeout.
func (m *member) introduce(c *conn, h handshake) (*session, []byte) {
	switch {
	case m.readOnly:
		return m.introduceReadOnly(c, h)
	case !m.Serving() && m.srv.opts.RefusalVersion != 0:
		return nil, m.srv.refused(h)
	case !m.Serving() || m.srv.lagsBehind(h):
		return nil, nil
	}
	timeout := m.srv.negotiate(h.timeout)
	known := make(chan struct{})
	var found *session
	attach := func(session *session) {
		if session != nil && !c.detached {
			found = m.attach(c, session)
		}
		close(known)
	}
	switch {
	case h.session == 0 || m.srv.opts.NewSessionIDOnReattach:
		m.createSession(timeout, attach)
	case !hmac.Equal(h.password, m.srv.password(h.session)):
		return nil, h.expired()
	default:
		m.findSession(h.session, timeout, attach)
	}
	if !m.srv.unlocked(c, known, m.srv.opts.HandshakeTimeout) || c.detached {
		return nil, nil
	}
	if found == nil {
		return nil, h.expired()
	}
	return found, h.reply(milliseconds(timeout), found.id, m.srv.password(found.id), false)
}

// attach binds a connection to a session. An older connection of the session ends if it is at the same member.
func (m *member) attach(c *conn, session *session) *session {
	if old := session.conn; old != nil && old != c && old.srv == m.srv {
		m.srv.drop(old)
	}
	session.conn = c
	c.attach(session)
	return session
}

// createSession has the leader create a session, and gives it to attach when the member has applied that.
func (m *member) createSession(timeout time.Duration, attach func(*session)) {
	m.srv.lastID++
	id := m.srv.lastID
	m.toLeader(func(l *member) {
		l.propose(&proposal{caller: Caller{Session: id},
			op: Op{Code: OpCreateSession, Number: milliseconds(timeout)}, from: m,
			ended: func(Result) { attach(m.ens.sessions[id]) }})
	})
}

// findSession asks the leader for a session, and gives it to attach, or nil if it has ended.
func (m *member) findSession(id int64, timeout time.Duration, attach func(*session)) {
	m.toLeader(func(l *member) {
		session := m.ens.sessions[id]
		if l.Deposed() && session != nil && !slices.Contains(l.srv.tree.Sessions(), id) {
			session = nil
		}
		if session != nil && !l.Deposed() {
			session.timeout, session.owner = timeout, m
			l.srv.touch(session)
			session.arm()
		}
		attach(session)
	})
}

// introduceReadOnly answers a handshake at a member without a quorum. It creates sessions of its own, which end when it
// finds one, and takes no session of the ensemble: so does a real server that has localSessionsEnabled. Without that, a
// 3.8.0 creates no session at all while it is read-only.
func (m *member) introduceReadOnly(c *conn, h handshake) (*session, []byte) {
	if !h.readOnly || h.seen > m.srv.tree.Zxid() {
		return nil, nil
	}
	timeout := m.srv.negotiate(h.timeout)
	found, foreign := m.local[h.session], slices.Contains(m.srv.tree.Sessions(), h.session)
	switch {
	case foreign:
		return nil, nil
	case h.session != 0 && (found == nil || !hmac.Equal(h.password, m.srv.password(h.session))):
		return nil, h.reply(0, 0, make([]byte, 16), true)
	case found == nil:
		m.srv.lastID++
		found = &session{id: m.srv.lastID}
		m.local[found.id] = found
	}
	found.timeout = timeout
	return m.attach(c, found), h.reply(milliseconds(timeout), found.id, m.srv.password(found.id), true)
}
