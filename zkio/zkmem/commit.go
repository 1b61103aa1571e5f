//go:build !js

package zkmem

import (
	"slices"
	"time"
)

// This file has the way of a client's write, and of a sync, through an ensemble: from the server where the client is
// connected to the leader, which proposes it, and back with what is committed. The client gets its answer when its own
// server has applied the write, behind the answers to all that it asked before.

// packet is a request that was taken from a connection and is not answered yet.
type packet struct {
	request request
	verdict Verdict
	waits   bool // for the leader
	done    bool // the leader's answer is here
	moved   bool // the session's requests come from another server now: the connection ends without an answer
	code    Code
	body    func(*encoder)
}

// proposal is a write at the leader.
type proposal struct {
	caller  Caller
	op      Op
	refusal Code   // the write is refused and uses up a zxid nevertheless
	change  change // reconfig

	from   *member // where its client is connected; nil if it came over no connection
	conn   *conn
	packet *packet      // the client's request; nil for the handshake of a new session
	ended  func(Result) // called when it is applied at from; nil for none
	result Result
}

// pending is what waits for a quorum at the leader: a proposal, or a sync behind proposals.
type pending struct {
	proposal *proposal
	synced   func()
}

// maxQueued is how many requests of a connection may wait for the leader. Further ones stay in the socket.
const maxQueued = 1000

// take has a request answered behind those before it. Credentials are checked immediately, as on a real server.
func (m *member) take(c *conn, p *packet) bool {
	if p.request.op.Code == OpAuth {
		return m.srv.respond(c, p)
	}
	c.queue = append(c.queue, p)
	if p.verdict.Action != Refuse && !m.srv.lacksAuth(c, p.request) && m.forwards(p.request) {
		p.waits = true
		m.toLeader(func(l *member) { l.handle(m, c, p) })
	}
	c.answerQueue()
	return !c.ended
}

// forwards reports whether the leader has to answer a request.
func (m *member) forwards(r request) bool {
	if m.readOnly {
		return false
	}
	switch r.op.Code {
	case OpCloseSession:
		return true
	case OpSync:
		return !r.bad
	}
	return !m.srv.opts.lacks(r.op) && m.srv.supports(r.op.Code) && isWrite(r.op.Code)
}

// handle takes a request of a client of a member at the leader.
func (m *member) handle(from *member, c *conn, p *packet) {
	r, session := p.request, c.session
	if r.op.Code == OpSync {
		m.await(func() {
			from.deliver(delivery{behind: func() { c.complete(p, OK, func(e *encoder) { e.text(r.op.Path) }) }})
		})
		return
	}
	if r.spare {
		m.await(func() { from.deliver(delivery{behind: func() { c.complete(p, MarshallingError, nil) }}) })
		return
	}
	w := &proposal{caller: Caller{Session: session.id, Auth: slices.Clone(c.auth)}, op: r.op, from: from, conn: c,
		packet: p, change: r.change}
	switch op := r.op.Code; {
	case session.owner != from && !m.Deposed():
		w.refusal, p.moved = SessionMoved, true
	case r.bad:
		w.refusal = MarshallingError
	case op == OpDeleteContainer && m.srv.old(): // the server's own; it refuses every path in a client's request
		w.refusal = BadArguments
	case op == OpReconfig && !m.ens.opts.Reconfig:
		w.refusal = ReconfigDisabled
	case op == OpReconfig && m.reconfigures():
		w.refusal = ReconfigInProgress
	case op == OpCreateSession:
		w.op.Number = milliseconds(session.timeout)
	}
	m.propose(w)
}

// propose has a write committed as soon as there is a quorum.
func (m *member) propose(p *proposal) { m.waiting = append(m.waiting, pending{proposal: p}) }

// await runs something at the leader when all that was proposed so far is committed.
func (m *member) await(synced func()) {
	if len(m.waiting) == 0 {
		synced()
		return
	}
	m.waiting = append(m.waiting, pending{synced: synced})
}

// flow moves on whatever can move: requests to the leader, what a quorum acknowledges, and what the leader has sent.
// Under Ensemble.mu.
func (e *Ensemble) flow() {
	for _, s := range e.servers {
		s.member.sendUp()
	}
	changed := false
	for l := e.leader(); l != nil && len(l.waiting) > 0 && e.mayCommit(); {
		next := l.waiting[0]
		l.waiting = l.waiting[1:]
		if next.synced != nil {
			next.synced()
			continue
		}
		changed = e.commit(l, next.proposal) || changed
	}
	for _, s := range e.servers {
		s.member.receive()
	}
	if changed {
		e.settle()
	}
}

// commit makes a write part of the history, and reports whether the configuration has changed.
func (e *Ensemble) commit(l *member, p *proposal) (reconfigured bool) {
	txn, next := e.prepare(l, p)
	l.zxid = txn.Zxid
	index := e.quorum.Append()
	if p.from == nil {
		p.ended = func(r Result) { p.result = r }
		p.from = l
	}
	if next != nil {
		e.config = *next
	}
	for _, s := range e.servers {
		if m := s.member; m.Up() && m.Term() == l.Term() {
			m.deliver(delivery{txn: txn, index: index, by: p})
		}
	}
	if next != nil {
		e.activate()
	}
	return next != nil
}

// prepare makes a transaction of a write, and of a reconfig the next configuration, too.
func (e *Ensemble) prepare(l *member, p *proposal) (Txn, *configuration) {
	zxid, at := l.zxid+1, l.srv.now()
	refuse := func(code Code) Txn {
		return Txn{Zxid: zxid, Time: at, Session: p.caller.Session, Code: OpError, Err: code}
	}
	switch {
	case p.refusal != OK:
		return refuse(p.refusal), nil
	case p.op.Code != OpReconfig:
		return l.srv.tree.Prepare(p.caller, p.op, zxid, at), nil
	}
	next, code := e.reconfigured(l, p)
	if code != OK {
		return refuse(code), nil
	}
	next.version = zxid
	return Txn{Zxid: zxid, Time: at, Session: p.caller.Session, Code: OpSetData, Path: configNode,
		Data: []byte(next.String()), Version: -1}, &next
}

// finish ends a write at the server where it came from, which has applied it.
func (p *proposal) finish(result Result) {
	if p.ended != nil {
		p.ended(result)
		return
	}
	code := result.Err
	if result.Code == OpMulti {
		code = OK // each operation's result is in the body
	}
	body := func(e *encoder) { encodeResult(e, result) }
	if p.op.Code == OpReconfig {
		data, stat, _ := p.from.srv.tree.Get(configNode)
		body = func(e *encoder) { e.bytes(data); e.stat(stat) }
	}
	p.conn.complete(p.packet, code, body)
}

// complete has the answer of a request that waited for the leader, and sends it behind those before it.
func (c *conn) complete(p *packet, code Code, body func(*encoder)) {
	p.waits, p.done, p.code, p.body = false, true, code, body
	c.answerQueue()
}

// answerQueue answers the first requests of the queue that do not wait any more. Under Server.mu.
func (c *conn) answerQueue() {
	for len(c.queue) > 0 && !c.queue[0].waits && !c.detached && !c.ended {
		p := c.queue[0]
		c.queue = c.queue[1:]
		if p.moved || !c.srv.respond(c, p) {
			c.ended = true
			c.finish()
		}
	}
	if c.room != nil && len(c.queue) < maxQueued {
		close(c.room)
		c.room = nil
	}
}

// awaitTurn waits until the server takes something from a connection: it is not frozen, and has room for it. It returns
// false if the connection ended meanwhile. Under Server.mu, which it releases while it waits.
func (s *Server) awaitTurn(c *conn) bool {
	for s.member != nil {
		var turn chan struct{}
		switch {
		case s.member.thawed != nil:
			turn = s.member.thawed
		case len(c.queue) >= maxQueued:
			if c.room == nil {
				c.room = make(chan struct{})
			}
			turn = c.room
		}
		if turn == nil {
			break
		}
		if !s.unlocked(c, turn, Forever) {
			return false
		}
	}
	return !c.detached && !c.ended
}

// unlocked releases the lock until something has happened. It returns false if the connection ended first, or if that
// takes too long.
func (s *Server) unlocked(c *conn, until <-chan struct{}, most time.Duration) bool {
	s.mu.Unlock()
	defer s.mu.Lock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-until:
		return true
	case <-timer.C:
	case <-c.done:
	}
	return false
}
