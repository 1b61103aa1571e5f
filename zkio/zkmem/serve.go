//go:build !js

package zkmem

import (
	"slices"

	"github.com/incumbent-go/incumbent/internal/digestmd5"
)

// serveHandshake serves a handshake and reports whether requests may follow.
func (s *Server) serveHandshake(c *conn, h handshake) bool {
	h.keeper = s.opts.Keeper
	verdict := s.hooks.ask(Request{Session: h.session, Op: OpCreateSession})
	if !verdict.wait(c) || verdict.Action == CutBefore {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	if !s.awaitTurn(c) {
		return false
	}
	s.counts.Handshakes++
	s.received++
	c.use.received++
	switch verdict.Action {
	case Refuse:
		c.send(s.refused(h))
		return false
	case Ignore:
		return true
	}
	session, answer := s.introduce(c, h)
	if verdict.Action == CutAfter {
		s.drop(c)
		return false
	}
	if answer != nil && verdict.Action != LoseReply {
		c.send(answer)
		c.use.replied(OpCreateSession, 0, s.tree.Zxid())
		s.sent++
	}
	return session != nil
}

// serve serves one request and reports whether the connection goes on.
func (s *Server) serve(c *conn, r request) bool {
	verdict := s.hooks.ask(Request{Session: c.id.Load(), Op: r.op.Code, Path: r.op.Path, Xid: r.xid})
	if !verdict.wait(c) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	if !s.awaitTurn(c) || c.session == nil {
		return false
	}
	s.counts.add(r.op.Code)
	s.received++
	c.use.received++
	switch verdict.Action {
	case CutBefore:
		s.drop(c)
		return false
	case Ignore:
		return true
	}
	if s.member != nil {
		s.member.hear(c.session)
		return s.member.take(c, &packet{request: r, verdict: verdict})
	}
	s.touch(c.session)
	return s.respond(c, &packet{request: r, verdict: verdict})
}

// respond answers a request and reports whether the connection goes on.
func (s *Server) respond(c *conn, p *packet) bool {
	r, verdict := p.request, p.verdict
	if verdict.Action == Refuse {
		s.reply(c, r.op.Code, r.xid, s.refusalZxid(r.op.Code), verdict.Code, nil)
		return true
	}
	answer := s.answer(c, p)
	if s.opts.Keeper {
		answer.asKeeper(r.op.Code)
	}
	if answer.none {
		return !answer.last
	}
	switch verdict.Action {
	case CutAfter:
		s.drop(c)
		return false
	case LoseReply:
		return !answer.last
	case Misreport:
		answer.code = verdict.Code
	}
	zxid := s.tree.Zxid()
	switch {
	case r.op.Code == OpAuth, r.op.Code == OpSASL, answer.code == SessionRequiresAuth:
		zxid = 0
	case answer.code == Unimplemented && answer.last:
		zxid = -1
	}
	s.reply(c, r.op.Code, answer.xid, zxid, answer.code, answer.body)
	return !answer.last
}

func (s *Server) reply(c *conn, op OpCode, xid int32, zxid int64, code Code, body func(*encoder)) {
	e := newFrame()
	e.replyHeader(xid, zxid, code)
	switch {
	case op == OpSASL && body == nil: // an interceptor has refused it
		e.bytes(nil)
	case body != nil && (code == OK || op == OpSASL):
		body(e)
	}
	c.send(e.frame())
	c.use.replied(op, xid, zxid)
	s.sent++
}

// answer is the reply of a request, or none; last ends the connection after it.
type answer struct {
	xid        int32
	code       Code
	body       func(*encoder)
	none, last bool
}

// answer carries out a request of a connection that has a session. Under Server.mu.
func (s *Server) answer(c *conn, p *packet) answer {
	r, a := p.request, answer{xid: p.request.xid}
	switch {
	case p.done:
		s.answerDone(c, p, &a)
	case s.lacksAuth(c, r):
		a.code, a.last = SessionRequiresAuth, true
	case r.op.Code == OpPing:
		a.xid = -2
	case s.opts.lacks(r.op):
		unknown := s.opts.unknown(r.op)
		a.code, a.none, a.last = unknown.Code, unknown.Code == OK, unknown.Close
	case r.bad && (r.op.Code == OpAuth || r.op.Code == OpSASL):
		a.none, a.last = true, true
	case r.op.Code == OpAuth:
		a.code = c.addIdentity(r)
		a.last = a.code != OK
	case r.op.Code == OpSASL:
		s.logIn(c, r.token, &a)
	case r.op.Code == OpCloseSession:
		s.endSession(c.session)
		a.last = true
	case r.op.Code == OpCreateSession && !r.bad && s.member == nil:
		s.introduceAgain(c)
		a.none = true
	case !s.supports(r.op.Code):
		a.code, a.last = Unimplemented, true
	case s.readOnly() && (isWrite(r.op.Code) || r.op.Code == OpSync):
		a.code = NotReadOnly
	case isWrite(r.op.Code):
		a.code, a.body = s.write(c, r)
		a.none = r.op.Code == OpCheck && a.code == OK // a real server of 3.8 fails to write the answer
	case r.bad:
		a.code = MarshallingError
	default:
		a.code, a.body = s.read(c, r)
	}
	return a
}

// lacksAuth reports whether a request needs an identity that its client has not proven yet.
func (s *Server) lacksAuth(c *conn, r request) bool {
	if len(s.opts.EnforceAuth) == 0 || r.op.Code == OpAuth || r.op.Code == OpSASL {
		return false
	}
	return !slices.ContainsFunc(c.auth, func(id Auth) bool { return slices.Contains(s.opts.EnforceAuth, id.Scheme) })
}

// answerDone answers a request with what the ensemble's leader had to decide.
func (s *Server) answerDone(c *conn, p *packet, a *answer) {
	a.code, a.body = p.code, p.body
	switch {
	case p.request.op.Code == OpCheck && p.code == OK: // as alone
		a.none = true
	case p.request.op.Code == OpCloseSession:
		a.last = true
	case p.request.op.Code == OpCreateSession && p.code == OK:
		s.sendIntroduction(c)
		a.none = true
	}
}

// lacks reports whether the options have the operation, or one of a multi's, as one that the server does not know.
func (o Options) lacks(op Op) bool {
	_, unknown := o.Unknown[op.Code]
	return unknown || slices.ContainsFunc(op.Ops, o.lacks)
}

// unknown returns what the server does with an operation that it lacks.
func (o Options) unknown(op Op) Unknown {
	if i := slices.IndexFunc(op.Ops, o.lacks); i >= 0 {
		return o.Unknown[op.Ops[i].Code]
	}
	return o.Unknown[op.Code]
}

// supports returns false for operations that end the connection.
func (s *Server) supports(op OpCode) bool {
	switch op {
	case OpCheck: // alone; since 3.9 it is part of a multi only
		return s.old()
	case OpCreateContainer:
		return !s.opts.NoContainers
	case OpCreate2:
		return !s.opts.NoCreate2
	case OpExists, OpGetData, OpGetACL, OpGetChildren, OpSync, OpGetChildren2, OpCheckWatches, OpRemoveWatches,
		OpSetWatches, OpSetWatches2, OpAddWatch, OpGetEphemerals, OpCountDescendants, OpMultiRead, OpWhoAmI, OpSASL:
		return true
	}
	return isWrite(op)
}

// isWrite reports whether an operation uses up a zxid, even when it is refused.
func isWrite(op OpCode) bool {
	switch op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL, OpDelete, OpSetData, OpSetACL, OpCheck,
		OpMulti, OpReconfig,
		OpDeleteContainer, OpCreateSession:
		return true
	}
	return false
}

func (s *Server) write(c *conn, r request) (Code, func(*encoder)) {
	caller := Caller{Session: c.session.id, Auth: c.auth}
	switch {
	case r.op.Code == OpReconfig && !r.bad: // a standalone server that has it enabled does not know it either
		code := ReconfigDisabled
		if s.opts.Reconfig {
			code = Unimplemented
		}
		s.refuse(caller.Session, code)
		return code, nil
	case r.op.Code == OpDeleteContainer && s.old(): // the server's own; it refuses every path in a client's request
		s.refuse(caller.Session, BadArguments)
		return BadArguments, nil
	case r.bad:
		if !r.spare {
			s.refuse(caller.Session, MarshallingError)
		}
		return MarshallingError, nil
	}
	result := s.commit(caller, r.op)
	code := result.Err
	if result.Code == OpMulti {
		code = OK // each operation's result is in the body
	}
	return code, func(e *encoder) { encodeResult(e, result) }
}

// addIdentity adds an identity to a connection.
func (c *conn) addIdentity(r request) Code {
	switch r.auth.Scheme {
	case "digest":
		if r.auth.ID == nullID {
			return AuthFailed
		}
		id := DigestAuth(r.auth.ID)
		if id.ID == c.srv.opts.SuperDigest {
			c.addAuth(Auth{Scheme: "super"})
		}
		c.addAuth(id)
		return OK
	case "ip":
		return OK
	}
	return AuthFailed
}

// logIn answers a token of a client's login. A server without users answers null, as a real one without a login does.
func (s *Server) logIn(c *conn, token string, a *answer) {
	var reply []byte
	a.body = func(e *encoder) { e.bytes(reply) }
	if len(s.opts.SASLUsers) == 0 {
		return
	}
	if c.login == nil {
		c.login = digestmd5.NewServer(s.opts.SASLUsers)
	}
	reply, user, err := c.login.Next([]byte(token))
	switch {
	case err != nil:
		if a.code, a.last = AuthFailed, true; slices.Contains(s.opts.EnforceAuth, "sasl") {
			a.code = SessionRequiresAuth
		}
	case user != "":
		c.addAuth(Auth{"sasl", user})
	}
}

func (c *conn) addAuth(id Auth) {
	if !slices.Contains(c.auth, id) {
		c.auth = append(c.auth[:len(c.auth):len(c.auth)], id)
	}
}
