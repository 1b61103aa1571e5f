//go:build !js

package zkmem

import (
	"time"

	"github.com/incumbent-go/incumbent/internal/quorum"
)

// member is what a server of an ensemble has that a standalone one has not. Guarded by Ensemble.mu.
type member struct {
	*quorum.Member
	srv *Server
	ens *Ensemble

	inbox   []delivery        // from the leader, and not applied yet
	lag     time.Duration     // how much later it applies a transaction
	late    *time.Timer       // for the first delivery in the inbox
	up      []func(l *member) // for the leader, and not there yet
	heardOf map[*session]bool // not reported to the leader yet
	// since when it does not hear of the leader, or as the leader of a quorum; zero if it does
	silent time.Time
	thawed chan struct{} // closed when the member is not frozen any more; nil while it is not frozen

	named    string             // its address when the configuration was given that last
	readOnly bool               // it serves read-only clients, because it has no quorum
	local    map[int64]*session // the sessions of these clients

	// Of a leader.
	zxid    int64     // the last one that it gave to a transaction
	waiting []pending // in the order of their arrival, until a quorum acknowledges them
}

// delivery is what a member gets from the leader: a committed transaction, or what comes behind those before it.
type delivery struct {
	txn     Txn
	index   int       // of the transaction in the history
	by      *proposal // the write of a client at this member, nil if there is none
	behind  func()    // in place of a transaction
	sent    time.Time
	arrived bool // it did not wait for the member to be connected and to run
}

// follows reports whether the leader of the member's term hears it now, and it the leader.
func (m *member) follows() bool {
	l := m.ens.leader()
	return l != nil && l.LeadsTerm(m.Term()) && !l.Frozen() && m.InTerm()
}

// hears reports whether a member that serves has what it serves by: a leader, or a quorum that it leads.
func (m *member) hears() bool {
	if m.Leads() {
		return m.MayCommit()
	}
	return m.follows()
}

// toLeader runs something at the leader that the member follows, in order, when it gets there.
func (m *member) toLeader(do func(l *member)) {
	m.up = append(m.up, do)
	m.ens.flow()
}

// sendUp has the leader get what it can.
func (m *member) sendUp() {
	l := m
	if !m.Leads() {
		l = m.ens.leader()
		if !m.follows() {
			return
		}
	}
	if l.Frozen() {
		return
	}
	for len(m.up) > 0 {
		do := m.up[0]
		m.up = m.up[1:]
		do(l)
	}
}

// deliver hands over what the leader sends. The leader itself gets it immediately.
func (m *member) deliver(d delivery) {
	if m.Leads() {
		m.accept(d)
		return
	}
	d.sent, d.arrived = time.Now(), !m.Isolated() && !m.Frozen()
	m.inbox = append(m.inbox, d)
}

// receive applies what has arrived and is due.
func (m *member) receive() {
	if m.Isolated() || m.Frozen() || !m.Up() {
		return
	}
	for i := range m.inbox {
		m.inbox[i].arrived = true
	}
	for len(m.inbox) > 0 {
		if wait := m.wait(m.inbox[0]); wait > 0 {
			if m.lag != Forever {
				m.wakeIn(wait)
			}
			return
		}
		d := m.inbox[0]
		m.inbox = m.inbox[1:]
		m.accept(d)
	}
}

// wait returns how long a delivery has to wait for the member's lag.
func (m *member) wait(d delivery) time.Duration {
	if m.lag <= 0 {
		return 0
	}
	if m.lag == Forever {
		return Forever
	}
	return time.Until(d.sent.Add(m.lag))
}

func (m *member) wakeIn(d time.Duration) {
	if m.late == nil {
		m.late = time.AfterFunc(d, func() {
			m.ens.mu.Lock()
			defer m.ens.mu.Unlock()
			if !m.ens.closed {
				m.ens.flow()
				m.ens.notify()
			}
		})
		return
	}
	m.late.Reset(d)
}

// accept applies a transaction, then answers the client that asked for it.
func (m *member) accept(d delivery) {
	if d.behind != nil {
		d.behind()
		return
	}
	if !m.Apply(d.index) {
		return // a copy of the leader's data has brought it
	}
	result := m.srv.apply(d.txn)
	if m.Leads() {
		m.ens.track(d.txn, d.by)
	}
	if d.by != nil && d.by.from == m {
		d.by.finish(result)
	}
	if d.txn.Code == OpCloseSession {
		m.endConnections(d.txn.Session, d.by)
	}
}

// endConnections ends those of a session that has ended, but for the one that asked for it and gets an answer.
func (m *member) endConnections(session int64, by *proposal) {
	for c := range m.srv.conns {
		if c.session != nil && c.session.id == session && (by == nil || by.conn != c) {
			m.srv.hangUp(c)
		}
	}
}

// leave ends the member's service: it looks for a leader from now on. What has arrived is in its log, so it is applied,
// and what has not is lost. Replies that are on their way are sent before the connections end.
func (m *member) leave() {
	for c := range m.srv.conns {
		m.srv.hangUp(c)
	}
	inbox := m.inbox
	m.inbox, m.up, m.waiting = nil, nil, nil
	for _, d := range inbox {
		if d.arrived && d.behind == nil && m.Apply(d.index) {
			m.srv.apply(d.txn)
		}
	}
	clear(m.heardOf)
	clear(m.local)
	m.silent, m.readOnly = time.Time{}, false
	m.Leave()
}

// join makes the member a follower of the present leader, with all of its data.
func (m *member) join() {
	m.leave()
	if m.Applied() < m.ens.quorum.Length() {
		m.srv.tree = m.ens.leader().srv.tree.Clone()
		m.CatchUp(nil)
	}
	m.Follow()
}

// looks reports whether the member looks for a leader, and others could hear it.
func (m *member) looks() bool {
	return m.Up() && !m.Serving() && !m.Isolated() && !m.Frozen()
}

// crash ends the member, whose connections have been cut.
func (m *member) crash() {
	if m.ens.closed || !m.Up() {
		return
	}
	m.SetUp(false)
	if m.thawed != nil {
		m.wake()
	}
	m.leave()
	m.ens.settle()
	m.ens.flow()
}

// start has a member that was stopped look for the others.
func (m *member) start() {
	m.SetUp(true)
	m.ens.settle()
	m.ens.flow()
}

// wake ends a freeze: the connections' goroutines go on.
func (m *member) wake() {
	m.SetFrozen(false)
	close(m.thawed)
	m.thawed = nil
}

// mode returns what the words srvr and mntr call the member, "" if it serves nobody.
func (m *member) mode() string {
	switch {
	case m.readOnly:
		return "read-only"
	case !m.Serving():
		return ""
	case m.Leads():
		return "leader"
	case m.Observer():
		return "observer"
	}
	return "follower"
}
