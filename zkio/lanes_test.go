package zkio

import "testing"

// The urgent lane goes first, then deletes; each lane keeps its order, and a full
// window of one lane does not stop the others.
func TestLanes(t *testing.T) {
	l := lanes{window: 2}
	names := map[*call]string{}
	add := func(name string, lane int) *call {
		c := &call{lane: lane}
		names[c] = name
		l.push(c)
		return c
	}
	add("n1", normal)
	withdrawn := add("n2", normal)
	n3 := add("n3", normal)
	add("d1", deletes)
	add("u1", urgent)
	add("u2", urgent)
	add("u3", urgent)
	add("n4", normal)
	if !l.withdraw(withdrawn) || l.withdraw(withdrawn) {
		t.Error("a call is withdrawn once")
	}
	for _, want := range []string{"u1", "u2", "d1", "n1", "n3", ""} {
		if got := names[l.next()]; got != want {
			t.Errorf("next is %q, want %q", got, want)
		}
	}
	l.landed(n3)
	if got := names[l.next()]; got != "n4" {
		t.Errorf("after a landing comes %q", got)
	}
	if rest := l.drain(); len(rest) != 1 || names[rest[0]] != "u3" {
		t.Errorf("%d are left", len(rest))
	}
}
