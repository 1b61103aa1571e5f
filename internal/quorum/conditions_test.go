package quorum

import "testing"

var (
	stop    = func(m *Member) { m.SetUp(false) } // it has not left yet
	isolate = func(m *Member) { m.SetIsolated(true) }
	freeze  = func(m *Member) { m.SetFrozen(true) }
	remove  = func(m *Member) { m.SetRemoved(true) }
	observe = func(m *Member) { m.SetObserver(true) }
)

// depose has the third server lead, with the votes of all, and m know nothing of it.
func depose(m *Member) {
	m.ens.Elect(m.ens.members[2])
	for _, other := range m.ens.members {
		if other != m && other != m.ens.leader {
			other.Follow()
		}
	}
}

// Each condition of what a server may do is enough to forbid it, with all the others met.
func TestEachConditionForbids(t *testing.T) {
	join := func(m *Member) bool { return m.MayJoin(m.ens.Term()) }
	leads := func(m *Member) bool { return m.LeadsTerm(1) }
	follows := func(m *Member) bool { return m.CheckFollower() == nil }
	for name, c := range map[string]struct {
		may     func(*Member) bool
		member  int // 0 leads, the others follow
		forbids map[string]func(*Member)
	}{
		"serve": {(*Member).Serving, 1, map[string]func(*Member){"look": (*Member).Look}},
		"be in the term": {(*Member).InTerm, 1, map[string]func(*Member){
			"down": stop, "look": (*Member).Look, "isolated": isolate, "frozen": freeze, "another term": depose}},
		"acknowledge": {(*Member).Acknowledges, 1, map[string]func(*Member){"down": stop, "isolated": isolate,
			"frozen":  freeze,
			"removed": remove, "observer": observe, "another term": depose,
			"no leader": func(m *Member) { m.ens.LoseLeader() }}},
		"commit": {(*Member).MayCommit, 0, map[string]func(*Member){
			"down": stop, "look": (*Member).Look, "isolated": isolate, "removed": remove, "observer": observe,
			"deposed": depose}},
		"lead the term": {leads, 0, map[string]func(*Member){"down": stop, "look": (*Member).Look,
			"isolated": isolate}},
		"join": {join, 1, map[string]func(*Member){
			"down": stop, "isolated": isolate, "leads": func(m *Member) { m.ens.Elect(m) }}},
		"rejoin": {(*Member).MayRejoin, 1, map[string]func(*Member){"down": stop, "isolated": isolate,
			"leads":            func(m *Member) { m.ens.Elect(m); depose(m) },
			"the leader looks": func(m *Member) { m.ens.leader.Look() },
			"no leader":        func(m *Member) { m.ens.LoseLeader() }}},
		"be a follower": {follows, 1, map[string]func(*Member){"down": stop, "look": (*Member).Look,
			"isolated": isolate}},
	} {
		if e := elected(5, 0); !c.may(e.members[c.member]) {
			t.Errorf("it may not %s, and nothing forbids it", name)
		}
		for why, forbid := range c.forbids {
			e := elected(5, 0)
			if forbid(e.members[c.member]); c.may(e.members[c.member]) {
				t.Errorf("%s: it may %s", why, name)
			}
		}
	}
}

// A server that does not serve is no follower, whether it has a vote or not. Whether the ensemble is whole is asked
// after that.
func TestWhyAServerIsNoFollower(t *testing.T) {
	for name, forbid := range map[string]func(*Member){"down": stop, "look": (*Member).Look, "isolated": isolate} {
		for _, member := range []int{1, 3} {
			e := elected(3, 1)
			forbid(e.members[member])
			if err := e.members[member].CheckFollower(); err != NotServing {
				t.Errorf("%s: server %d of three with an observer: %v, want %v", name, member, err, NotServing)
			}
		}
	}
}

// The next leader's epoch is one higher than what was set.
func TestTheEpochThatIsSet(t *testing.T) {
	e := elected(3, 0)
	e.SetEpoch(41)
	if e.Elect(e.members[1]); e.Epoch() != 42 {
		t.Errorf("epoch %d, want 42", e.Epoch())
	}
}
