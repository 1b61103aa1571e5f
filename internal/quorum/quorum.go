package quorum

// Ensemble is the members of one ensemble, and what a quorum of them has decided.
type Ensemble struct {
	members   []*Member
	leader    *Member // as elected by a quorum last; nil while there is none
	term      int     // counts elections
	epoch     int64   // the upper half of zxids
	committed int     // how many transactions the history has
	absent    int     // votes of the configuration that no member has
}

// New returns an ensemble of this many servers with a vote, followed by the observers. All are up, and none leads.
func New(voters, observers int) *Ensemble {
	e := &Ensemble{}
	for i := range voters + observers {
		e.members = append(e.members, &Member{ens: e, id: i, up: true, observer: i >= voters})
	}
	return e
}

// Members returns all of them. The slice must not be changed.
func (e *Ensemble) Members() []*Member { return e.members }

// Leader returns the member that a quorum elected last, nil for none. It may be down, or cut off from the others.
func (e *Ensemble) Leader() *Member { return e.leader }

// Term returns how many elections there were.
func (e *Ensemble) Term() int { return e.term }

// Epoch returns the upper half of the zxids of the present leader.
func (e *Ensemble) Epoch() int64 { return e.epoch }

// SetEpoch sets the epoch. The next leader's is one higher.
func (e *Ensemble) SetEpoch(epoch int64) { e.epoch = epoch }

// SetAbsent sets how many votes of the configuration no member has: it may name servers that do not run.
func (e *Ensemble) SetAbsent(votes int) { e.absent = votes }

// Voters returns how many servers have a vote.
func (e *Ensemble) Voters() int {
	n := e.absent
	for _, m := range e.members {
		if m.Votes() {
			n++
		}
	}
	return n
}

// Majority reports whether this many votes are a quorum.
func (e *Ensemble) Majority(votes int) bool { return votes > e.Voters()/2 }

// Acknowledging returns how many members acknowledge a proposal of the elected leader, itself included.
func (e *Ensemble) Acknowledging() int {
	n := 0
	for _, m := range e.members {
		if m.Acknowledges() {
			n++
		}
	}
	return n
}

// HasQuorum reports whether the acknowledging members are a quorum.
func (e *Ensemble) HasQuorum() bool { return e.Majority(e.Acknowledging()) }

// Electable returns the members that could elect one of them now: those that run and reach each other. It returns none
// if they are no quorum.
func (e *Ensemble) Electable() []*Member {
	var able []*Member
	for _, m := range e.members {
		if m.Votes() && m.up && !m.isolated && !m.leads && !m.frozen {
			able = append(able, m)
		}
	}
	if !e.Majority(len(able)) {
		return nil
	}
	return able
}

// Elect begins a term and an epoch, in which l leads.
func (e *Ensemble) Elect(l *Member) {
	e.term++
	e.epoch++
	e.leader = l
	l.term, l.leads, l.isolated, l.serving = e.term, true, false, true
}

// LoseLeader notes that a quorum knows of no leader.
func (e *Ensemble) LoseLeader() { e.leader = nil }

// WholeLeader returns the leader of an ensemble in which every server that could have a vote takes part. The error is
// NoLeader or NotWhole.
func (e *Ensemble) WholeLeader() (*Member, error) {
	switch l := e.leader; {
	case l == nil || !l.leads || l.isolated:
		return nil, NoLeader
	case !e.whole():
		return nil, NotWhole
	default:
		return l, nil
	}
}

// whole reports whether every server that is no observer acknowledges proposals.
func (e *Ensemble) whole() bool {
	for _, m := range e.members {
		if !m.observer && !m.Acknowledges() {
			return false
		}
	}
	return true
}

// Append makes a committed transaction part of the history, and returns its index there.
func (e *Ensemble) Append() (index int) {
	e.committed++
	return e.committed - 1
}

// Length returns how many transactions the history has.
func (e *Ensemble) Length() int { return e.committed }

// Replace begins another history, in which nothing is committed and nobody leads: the data were replaced.
func (e *Ensemble) Replace(epoch int64) {
	e.leader, e.committed, e.epoch = nil, 0, epoch
	for _, m := range e.members {
		m.applied = 0
	}
}
