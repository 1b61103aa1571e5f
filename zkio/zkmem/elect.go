//go:build !js

package zkmem

import "time"

// This file has elections, and how members notice that they have lost each other. Package quorum says who may lead;
// here is when. Members that lose a connection notice it immediately, and elect another leader in the same moment. A
// member that is isolated or faces frozen ones hears nothing: it notices that after SyncLimit ticks.

// settle has every member that looks for a leader find one, if there is one or a quorum to elect one. All the others
// that can serve read-only clients do.
func (e *Ensemble) settle() {
	if e.closed {
		return
	}
	e.endLeaderless()
	if l := e.leader(); l == nil || !e.reachable(l) {
		if best := e.best(); best != nil {
			e.lead(best)
		}
	}
	if l := e.leader(); l != nil && e.reachable(l) {
		for _, s := range e.servers {
			if s.member.looks() {
				s.member.join()
			}
		}
	}
	for _, s := range e.servers {
		m := s.member
		m.readOnly = e.opts.ReadOnlyMode && m.Up() && !m.Serving()
		m.listen(time.Now())
	}
}

// reachable reports whether members that look for a leader find this one.
func (e *Ensemble) reachable(l *member) bool {
	return l.Up() && l.Leads() && !l.Isolated() && !l.Frozen() && l.Votes()
}

// endLeaderless ends the service of those whose connections have broken: of followers without their leader, and of a
// leader whose followers are no quorum any more. Members that are frozen or isolated do not see it.
func (e *Ensemble) endLeaderless() {
	l := e.leader()
	if l != nil && e.awake(l) && (!l.Votes() || !e.quorum.Majority(e.connected())) {
		l.leave()
	}
	if l != nil && !l.Leads() {
		e.quorum.LoseLeader()
		l = nil
	}
	for _, s := range e.servers {
		if m := s.member; m.Serving() && !m.Leads() && e.awake(m) && (l == nil || m.Term() != l.Term()) {
			m.leave()
		}
	}
}

// awake reports whether a member notices immediately that a connection has broken.
func (e *Ensemble) awake(m *member) bool { return !m.Isolated() && !m.Frozen() }

// connected returns how many members with a vote have a connection to the leader, whether something passes or not.
func (e *Ensemble) connected() int {
	n := 0
	for _, s := range e.servers {
		if m := s.member; m.Up() && m.Votes() && m.Term() == e.quorum.Term() {
			n++
		}
	}
	return n
}

// best returns the member that those elect which look for a leader: the one with the longest history, of these the one
// with the highest number. It is nil if they are no quorum.
func (e *Ensemble) best() *member {
	var best *member
	votes := 0
	for _, able := range e.quorum.Electable() {
		m := e.servers[able.ID()].member
		if !m.looks() {
			continue
		}
		votes++
		if best == nil || m.Applied() >= best.Applied() {
			best = m
		}
	}
	if !e.quorum.Majority(votes) {
		return nil
	}
	return best
}

// lead makes a member the leader of a new epoch. Every session gets its whole timeout again.
func (e *Ensemble) lead(l *member) {
	l.leave()
	e.quorum.Elect(l.Member)
	l.zxid = e.quorum.Epoch() << 32
	for _, session := range e.sessions {
		l.srv.touch(session)
		session.arm()
	}
	if e.moved() && e.quorum.Length() > 0 {
		e.relist(l)
	}
}

// listen notes since when the member does not hear what it serves by.
func (m *member) listen(now time.Time) {
	switch {
	case !m.Serving() || m.hears():
		m.silent = time.Time{}
	case m.silent.IsZero():
		m.silent = now
	}
}

// tooSilent reports whether the member has heard nothing for SyncLimit ticks.
func (m *member) tooSilent(now time.Time) bool {
	return !m.silent.IsZero() && now.Sub(m.silent) >= time.Duration(m.ens.opts.SyncLimit)*m.ens.opts.Tick
}

// turn is what happens twice a tick: followers report their sessions to the leader that pings them, and members notice
// that they hear nothing.
func (e *Ensemble) turn() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	e.report()
	e.notice()
	e.notify()
	e.turns.Reset(e.opts.Tick / 2)
}

// report has the leader touch the sessions that its followers have heard of.
func (e *Ensemble) report() {
	for _, s := range e.servers {
		m := s.member
		if m.Leads() || !m.follows() {
			continue
		}
		for session := range m.heardOf {
			e.leader().srv.touch(session)
		}
		clear(m.heardOf)
	}
}

// notice ends the service of members that have heard nothing for too long, and of leaders that find others in a later
// epoch.
func (e *Ensemble) notice() {
	now := time.Now()
	for _, s := range e.servers {
		if m := s.member; !m.Frozen() && (m.tooSilent(now) || m.Deposed() && !m.Isolated()) {
			m.leave()
		}
	}
	e.settle()
	e.flow()
}

// hear notes that a member got something from a session's client. The leader hears of it immediately if that is its
// own, and else with the next report.
func (m *member) hear(session *session) {
	switch {
	case m.readOnly || m.Deposed():
	case m.Leads():
		m.srv.touch(session)
	default:
		m.heardOf[session] = true
	}
}

// advance moves the clock of all members.
func (e *Ensemble) advance(d time.Duration) {
	if d <= 0 || e.closed {
		return
	}
	for _, session := range e.sessions {
		session.deadline = session.deadline.Add(-d)
	}
	for _, s := range e.servers {
		s.skew += min(d, MaxAdvance-s.skew)
		if m := s.member; !m.silent.IsZero() {
			m.silent = m.silent.Add(-d)
		}
		for i := range s.member.inbox {
			s.member.inbox[i].sent = s.member.inbox[i].sent.Add(-d)
		}
	}
	e.notice()
	e.expireAll()
	if l := e.leader(); l != nil && d >= e.opts.ContainerInterval {
		l.srv.reapContainers()
	}
	e.notify()
}

// expireAll ends the sessions that have timed out, and has the timers of the others fire in time.
func (e *Ensemble) expireAll() {
	for _, id := range sortedKeys(e.sessions) {
		session := e.sessions[id]
		if session.deadline.After(time.Now()) {
			session.arm()
			continue
		}
		e.expire(session)
	}
}

// expire has the leader end a session that has timed out. Without a quorum it tries again later.
func (e *Ensemble) expire(session *session) {
	if !e.mayCommit() {
		session.timer.Reset(e.opts.Tick / 2)
		return
	}
	_, _ = e.operate(Caller{Session: session.id}, Op{Code: OpCloseSession})
}

// track keeps the leader's sessions in step with the tree.
func (e *Ensemble) track(txn Txn, by *proposal) {
	switch known := e.sessions[txn.Session]; {
	case txn.Code == OpCreateSession && known == nil:
		l := e.leader()
		session := l.srv.track(txn.Session, time.Duration(txn.Version)*time.Millisecond)
		if by != nil && by.from != nil {
			session.owner = by.from
		}
	case txn.Code == OpCloseSession && known != nil:
		known.timer.Stop()
		delete(e.sessions, txn.Session)
	}
}
