package why

import "testing"

// Permits that may have been held leave it open whether there were enough, and those that were held decide it.
func TestPermitsThatMayHaveBeenHeld(t *testing.T) {
	open := []Proof{{Earlier: newCrafted(1, 100).read(t, "a").terms[0], How: "of clocks"}}
	for _, c := range []struct {
		p    Permits
		want Certainty
	}{
		{Permits{Limit: 3, Own: 1, Maybe: 2, Certainty: Proven}, Proven},
		{Permits{Limit: 2, Own: 1, Maybe: 2, Certainty: Proven}, Unknown},
		{Permits{Limit: 2, Own: 1, Held: 2, Certainty: Proven}, Both},
		{Permits{Own: 1, Certainty: Proven}, Unknown},
	} {
		c.p.decide(open)
		if c.p.Certainty != c.want {
			t.Errorf("%+v, want %s", c.p, c.want)
		}
	}
	p := Permits{Limit: 2, Own: 1, Certainty: Proven}
	if p.addStrangers(1); p.Certainty != Proven {
		t.Errorf("%+v", p)
	}
	if p.addStrangers(1); p.Certainty != Unknown {
		t.Errorf("%+v", p)
	}
}

// A writer is compared with every reader since the last writer.
func TestAWriterIsComparedWithEveryReader(t *testing.T) {
	n := &line{}
	for i, reads := range []bool{false, true, true, false} {
		term := newCrafted(int64(i+1), int64(100*(i+1))).read(t, string(rune('a'+i))).terms[0]
		term.shares = reads
		n.terms = append(n.terms, term)
	}
	var logs []*Log
	for _, term := range n.terms {
		logs = append(logs, term.Log)
	}
	r := &Report{h: newHistory(logs, nil, defaultDrift)}
	for i, want := range []int{0, 1, 1, 3} {
		if got := len(r.conflicts(n, i)); got != want {
			t.Errorf("term %d is compared with %d, want %d", i, got, want)
		}
	}
}
