package quorum

import (
	"slices"
	"testing"
)

// elected returns an ensemble whose first server leads, and all others follow.
func elected(voters, observers int) *Ensemble {
	e := New(voters, observers)
	e.Elect(e.members[0])
	for _, m := range e.members[1:] {
		m.Follow()
	}
	return e
}

// A leader commits as long as more than half of the votes acknowledge it: those of servers that are down, cut off or
// frozen count as votes, and acknowledge nothing. Observers do not count.
func TestAQuorumDecides(t *testing.T) {
	down := func(m *Member) { m.SetUp(false); m.Leave() }
	for _, test := range []struct {
		name       string
		voters     int
		observers  int
		harm       []func(*Member) // to the servers behind the leader
		mayCommit  bool
		electable  int
		wholeError error
	}{
		{"three", 3, 0, nil, true, 2, nil},
		{"one down", 3, 0, []func(*Member){down}, true, 0, NotWhole},
		{"one isolated", 3, 0, []func(*Member){func(m *Member) { m.SetIsolated(true) }}, true, 0, NotWhole},
		{"one frozen", 3, 0, []func(*Member){func(m *Member) { m.SetFrozen(true) }}, true, 0, NotWhole},
		{"two down", 3, 0, []func(*Member){down, down}, false, 0, NotWhole},
		{"two of five down", 5, 0, []func(*Member){down, down}, true, 0, NotWhole},
		{"one of five down", 5, 0, []func(*Member){down}, true, 3, NotWhole},
		{"one of two down", 2, 0, []func(*Member){down}, false, 0, NotWhole},
		{"observers do not help", 3, 4, []func(*Member){down, down}, false, 0, NotWhole},
		{"one removed", 3, 0, []func(*Member){func(m *Member) { m.SetRemoved(true) }}, true, 0, NotWhole},
		{"one becomes an observer", 3, 0, []func(*Member){func(m *Member) { m.SetObserver(true) }}, true, 0, nil},
		{"one removed, one down", 3, 0, []func(*Member){func(m *Member) { m.SetRemoved(true) }, down},
			false, 0, NotWhole},
		{"another term", 3, 0, []func(*Member){(*Member).Leave, (*Member).Leave}, false, 2, NotWhole},
	} {
		e := elected(test.voters, test.observers)
		for i, harm := range test.harm {
			harm(e.members[i+1])
		}
		l, err := e.WholeLeader()
		if got := e.members[0].MayCommit(); got != test.mayCommit || len(e.Electable()) != test.electable ||
			err != test.wholeError || (err == nil) != (l == e.members[0]) {
			t.Errorf("%s: may commit %t, %d electable, %v; want %t, %d, %v", test.name, got, len(e.Electable()), err,
				test.mayCommit, test.electable, test.wholeError)
		}
	}
}

// Servers that the configuration names count, whether they run here or not.
func TestAbsentServersHaveVotes(t *testing.T) {
	e := elected(3, 0)
	e.SetAbsent(2)
	if e.Voters() != 5 || !e.HasQuorum() || e.Majority(2) {
		t.Errorf("%d votes, quorum %t, two are one %t", e.Voters(), e.HasQuorum(), e.Majority(2))
	}
	e.members[2].SetIsolated(true)
	if e.HasQuorum() {
		t.Error("two of five are a quorum")
	}
}

// A leader that is deposed leads on in its own eyes, in its own term, until it looks for another.
func TestADeposedLeader(t *testing.T) {
	e := elected(3, 0)
	old, next, other := e.members[0], e.members[1], e.members[2]
	old.SetIsolated(true)
	if !slices.Equal(e.Electable(), []*Member{next, other}) {
		t.Fatal("the others cannot elect one of them")
	}
	e.Elect(next)
	other.Follow()
	if !old.Leads() || !old.Deposed() || old.MayCommit() || old.Acknowledges() || next.Deposed() || !next.MayCommit() ||
		e.Term() != 2 || e.Epoch() != 2 {
		t.Errorf("the old one leads %t, is deposed %t, commits %t; the next one commits %t in epoch %d", old.Leads(),
			old.Deposed(), old.MayCommit(), next.MayCommit(), e.Epoch())
	}
	if next.LeadsTerm(1) || !next.LeadsTerm(2) || old.LeadsTerm(1) {
		t.Error("messages of one term get to the leader of another, or to one that is cut off")
	}
	old.SetIsolated(false)
	if old.MayJoin(2) || old.MayRejoin() {
		t.Error("a leader joins another without looking for one")
	}
	old.Look()
	if !old.MayJoin(2) || !old.MayRejoin() || old.MayJoin(1) || old.InTerm() {
		t.Error("it cannot join")
	}
	old.Follow()
	if !old.InTerm() || !old.Acknowledges() || old.CheckFollower() != nil || next.CheckFollower() != Leads {
		t.Error("it does not take part")
	}
	e.LoseLeader()
	if e.HasQuorum() || old.MayRejoin() {
		t.Error("without a leader there is somebody to acknowledge to, or to join")
	}
	if _, err := e.WholeLeader(); err != NoLeader {
		t.Error(err)
	}
	old.Leave()
	if err := old.CheckFollower(); err != NotServing {
		t.Error(err)
	}
}

// Each server applies the history in order, without a gap.
func TestAHistoryIsAppliedInOrder(t *testing.T) {
	e := elected(2, 0)
	m := e.members[1]
	for want := range 3 {
		if index := e.Append(); index != want {
			t.Fatalf("index %d, want %d", index, want)
		}
	}
	if m.Apply(1) || !m.Apply(0) || m.Apply(0) || m.Applied() != 1 {
		t.Errorf("%d applied", m.Applied())
	}
	var got []int
	m.CatchUp(func(index int) { got = append(got, index) })
	if !slices.Equal(got, []int{1, 2}) || m.Applied() != e.Length() {
		t.Errorf("applied %v, %d of %d", got, m.Applied(), e.Length())
	}
	e.members[0].CatchUp(nil)
	e.Replace(7)
	if e.Length() != 0 || m.Applied() != 0 || e.members[0].Applied() != 0 || e.Leader() != nil || e.Epoch() != 7 {
		t.Error("something is left of the history before")
	}
}
