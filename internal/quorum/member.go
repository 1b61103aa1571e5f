package quorum

// Member is one server of an ensemble.
type Member struct {
	ens       *Ensemble
	id        int
	up        bool
	serving   bool
	leads     bool
	isolated  bool
	frozen    bool
	observer  bool
	nonVoting bool
	term      int
	applied   int
}

// ID returns the server's number, from 0 on.
func (m *Member) ID() int { return m.id }

// Up reports whether the server runs.
func (m *Member) Up() bool { return m.up }

// Serving reports whether the server answers clients.
func (m *Member) Serving() bool { return m.serving }

// Leads reports whether the server leads the ensemble, or believes that it does.
func (m *Member) Leads() bool { return m.leads }

// Isolated reports whether the server reaches no other server.
func (m *Member) Isolated() bool { return m.isolated }

// Frozen reports whether nothing of the server runs, although it is up.
func (m *Member) Frozen() bool { return m.frozen }

// Observer reports whether the server is an observer, which never has a vote.
func (m *Member) Observer() bool { return m.observer }

// Votes reports whether the server is in the configuration, and is no observer.
func (m *Member) Votes() bool { return !m.nonVoting && !m.observer }

// Removed reports whether the server is no part of the configuration.
func (m *Member) Removed() bool { return m.nonVoting }

// Term returns the election that the server takes part in, -1 for none.
func (m *Member) Term() int { return m.term }

// Deposed reports whether the server believes that it leads, and others have elected another leader, or none.
func (m *Member) Deposed() bool { return m.leads && m.ens.leader != m }

// InTerm reports whether the server serves in the present term, and runs and is connected.
func (m *Member) InTerm() bool {
	return m.up && m.serving && !m.isolated && !m.frozen && m.term == m.ens.term
}

// Acknowledges reports whether the elected leader gets this server's acknowledgement of a proposal.
func (m *Member) Acknowledges() bool {
	return m.up && m.Votes() && !m.isolated && !m.frozen && m.ens.leader != nil && m.term == m.ens.term
}

// MayCommit reports whether the server is the elected leader, and a quorum acknowledges its proposals.
func (m *Member) MayCommit() bool {
	return m.ens.leader == m && m.leads && m.up && !m.isolated && m.Votes() && m.ens.HasQuorum()
}

// LeadsTerm reports whether the server leads a term, and gets what the members of that term send to their leader.
func (m *Member) LeadsTerm(term int) bool { return m.leads && m.term == term && m.up && !m.isolated }

// MayJoin reports whether the server may become a follower of the leader of a term, which has to be the present one.
func (m *Member) MayJoin(term int) bool {
	return m.ens.term == term && m.up && !m.isolated && !m.leads
}

// MayRejoin reports whether there is a leader that the server can look for.
func (m *Member) MayRejoin() bool {
	l := m.ens.leader
	return m.up && l != nil && l.leads && l != m && !m.isolated && !m.leads
}

// CheckFollower returns nil for a follower that serves, in a whole ensemble, and for an observer that serves. The error
// is Leads, NotServing or NotWhole.
func (m *Member) CheckFollower() error {
	switch {
	case m == m.ens.leader:
		return Leads
	case !m.up || m.isolated || !m.serving:
		return NotServing
	case !m.observer && !m.ens.whole():
		return NotWhole
	}
	return nil
}

// SetUp sets whether the server runs. One that is down serves nobody: see Leave.
func (m *Member) SetUp(up bool) { m.up = up }

// Look notes that the server serves nobody, because it looks for a leader. It no longer leads.
func (m *Member) Look() { m.serving, m.leads = false, false }

// Leave is Look for a server that no longer takes part in a term.
func (m *Member) Leave() {
	m.Look()
	m.term = -1
}

// Follow notes that the server follows the present leader, and serves.
func (m *Member) Follow() { m.term, m.serving = m.ens.term, true }

// SetIsolated sets whether the server reaches no other server. It goes on with what it does until it notices.
func (m *Member) SetIsolated(isolated bool) { m.isolated = isolated }

// SetFrozen sets whether nothing of the server runs, although it is up.
func (m *Member) SetFrozen(frozen bool) { m.frozen = frozen }

// SetRemoved sets whether the server is no part of the configuration. It may follow nevertheless.
func (m *Member) SetRemoved(removed bool) { m.nonVoting = removed }

// SetObserver sets whether the server is an observer.
func (m *Member) SetObserver(observer bool) { m.observer = observer }

// Applied returns how many transactions of the history the server has applied.
func (m *Member) Applied() int { return m.applied }

// Apply counts a transaction as applied and returns true, if it is the next of the history for this server.
func (m *Member) Apply(index int) bool {
	if index != m.applied {
		return false
	}
	m.applied++
	return true
}

// CatchUp calls apply with the index of each transaction of the history that the server has not applied, and counts
// them as applied, as after a snapshot. Nil applies nothing: the caller has copied the data.
func (m *Member) CatchUp(apply func(index int)) {
	for ; m.applied < m.ens.committed; m.applied++ {
		if apply != nil {
			apply(m.applied)
		}
	}
}
