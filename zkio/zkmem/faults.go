//go:build !js

package zkmem

import (
	"errors"
	"math"
	"time"
)

// Forever is a lag that ends with another call of [Ensemble.Lag], or with [Ensemble.Heal].
const Forever = time.Duration(math.MaxInt64)

// The faults of an ensemble. Each returns an error if the server cannot have it: it is another ensemble's, or does not
// run.
var (
	errStranger = errors.New("zkmem: the server is no member of this ensemble: take one of Ensemble.Servers")
	errDown     = errors.New("zkmem: the server is stopped: Restart it first")
	errNoLeader = errors.New("zkmem: no server leads: heal or restart members first")
	errAlone    = errors.New("zkmem: the other servers are no quorum without the leader: heal or restart members first")
	errLeads    = errors.New("zkmem: the server leads, so it applies a transaction when it is committed: take one of " +
		"Ensemble.Followers")
	errNegative = errors.New("zkmem: a server cannot apply a transaction before it is committed: want a " +
		"lag of 0 or more")
)

// fault does something to a member, and has the others find out what they can.
func (e *Ensemble) fault(s *Server, do func(m *member)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case s == nil || s.member == nil || s.member.ens != e:
		return errStranger
	case !s.member.Up():
		return errDown
	}
	do(s.member)
	e.settle()
	e.flow()
	e.notify()
	return nil
}

// Isolate cuts a member off from all others, which no member notices at first. A follower goes on answering reads, from
// a state that no longer changes, and its clients' writes wait. A leader goes on leading and commits nothing. After
// SyncLimit ticks without a message from the others, the isolated member ends its connections, and serves no client, or
// only read-only ones if Options.ReadOnlyMode is set. If it led, the others elect another leader then. See Reconnect,
// and Depose for a leader.
func (e *Ensemble) Isolate(s *Server) error {
	return e.fault(s, func(m *member) { m.SetIsolated(true) })
}

// Reconnect ends Isolate for one member. If SyncLimit has not passed yet, the member goes on as before: what was sent
// meanwhile in both directions arrives. Otherwise it ends its connections and joins the others.
func (e *Ensemble) Reconnect(s *Server) error {
	return e.fault(s, func(m *member) { m.reconnect() })
}

func (m *member) reconnect() {
	m.SetIsolated(false)
	if m.Deposed() && !m.Frozen() {
		m.leave()
	}
}

// Freeze stops all work of a member, as if its process were stopped by SIGSTOP: its connections stay, new ones are
// accepted and not served, and what clients send waits. After SyncLimit ticks the others take it for failed. See Thaw.
func (e *Ensemble) Freeze(s *Server) error {
	return e.fault(s, func(m *member) {
		if m.thawed == nil {
			m.SetFrozen(true)
			m.thawed = make(chan struct{})
		}
	})
}

// Thaw ends Freeze. A leader first commits what waits for it, and then ends the sessions that have timed out meanwhile,
// as a real one does. If the others have elected another leader, it answers what its clients have sent as if it still
// led, and notices its end within half a tick. A follower that was frozen for more than SyncLimit ticks ends its
// connections and joins the others.
func (e *Ensemble) Thaw(s *Server) error { return e.fault(s, func(m *member) { m.thaw() }) }

func (m *member) thaw() {
	if m.thawed == nil {
		return
	}
	m.wake()
	if m.tooSilent(time.Now()) && !m.Leads() {
		m.leave()
		return
	}
	if m.ens.leader() == m && m.Leads() {
		m.ens.flow()
		m.ens.expireAll()
	}
}

// Lag has a follower apply each transaction d after its commit, from now on and also those that it has not applied yet.
// Its clients read an older state, and get their replies to writes and syncs later by d. 0 ends the lag, and applies
// immediately what was held back. With [Forever] it applies nothing until the next call.
//
// A leader cannot lag. A member that lags and is elected applies what it has, and lags again when it follows another
// one.
func (e *Ensemble) Lag(s *Server, d time.Duration) error {
	if d < 0 {
		return errNegative
	}
	leads := false
	err := e.fault(s, func(m *member) {
		if leads = m.Leads() && d > 0; !leads {
			m.lag = d
		}
	})
	if leads {
		return errLeads
	}
	return err
}

// Depose isolates the leader and has the others elect another one immediately, as if its connections to them broke and
// only they noticed. The deposed leader does not know of it: for SyncLimit ticks, or until Reconnect, it goes on
// answering reads and syncs, and commits nothing. Depose returns both.
func (e *Ensemble) Depose() (deposed, leader *Server, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := e.leader()
	if l == nil || l.Isolated() {
		return nil, nil, errNoLeader
	}
	others := e.followersOf(l)
	if !e.quorum.Majority(len(others)) {
		return nil, nil, errAlone
	}
	l.SetIsolated(true)
	for _, m := range others {
		m.leave()
	}
	e.settle()
	e.flow()
	e.notify()
	return l.srv, e.leader().srv, nil
}

// followersOf returns the members with a vote that would elect another leader without l.
func (e *Ensemble) followersOf(l *member) []*member {
	var all []*member
	for _, s := range e.servers {
		if m := s.member; m != l && m.Up() && m.Votes() && !m.Isolated() && !m.Frozen() {
			all = append(all, m)
		}
	}
	return all
}

// Heal ends every Isolate, Depose, Freeze and Lag. A server that is stopped stays stopped: see [Server.Restart].
func (e *Ensemble) Heal() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.servers {
		m := s.member
		m.lag = 0
		m.reconnect()
	}
	for _, s := range e.servers {
		s.member.thaw()
	}
	e.settle()
	e.flow()
	e.notify()
}
