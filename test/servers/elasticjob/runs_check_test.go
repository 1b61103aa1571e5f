package elasticjob

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// printed returns a stage without a server, with a few instances, that have printed these lines.
func printed(lines ...string) *stage {
	s := &stage{
		period: time.Second, total: 2, more: make(chan struct{}),
		cutOff: map[string]bool{}, judged: map[[2]run]bool{},
		instances: []*instance{
			{name: "J1", kind: inJava, ip: "10.0.0.1"},
			{name: "G1", kind: inGo, ip: "10.0.0.2"},
			{name: "G2", kind: inGo, ip: "10.0.0.3"},
		},
	}
	s.owners.all = map[int][]ownership{}
	for _, line := range lines {
		by, words, _ := strings.Cut(line, " ")
		s.hear(by, words)
	}
	return s
}

const j1, g1, g2 = "10.0.0.1@-@7", "10.0.0.2@-@8", "10.0.0.3@-@9"

// TestPeriodsAreWhole: a period in which an item did not run, or ran twice, is not whole, and neither is the last
// one.
func TestPeriodsAreWhole(t *testing.T) {
	whole := []string{j1 + " run 0 1000", j1 + " run 1 1001", j1 + " run 0 2000", g1 + " run 1 2005",
		j1 + " run 0 3001"}
	for _, c := range []struct {
		lines   []string
		periods int
		want    string
	}{
		{whole, 2, ""},
		{whole, 1, ""},
		{whole[:4], 1, ""},
		{whole, 3, "item 0 ran 0 times in the period from 0"},
		{whole[:2], 1, "item 0 ran 0 times in the period from 0"},
		{append(whole, g1+" run 1 2500"), 2, "item 1 ran 2 times in the period from 2000"},
		{append(whole[:3:3], whole[4]), 1, "item 1 ran 0 times in the period from 2000"},
		{nil, 1, "nothing has run"},
	} {
		if _, got := printed(c.lines...).wholePeriods(time.UnixMilli(-2000), c.periods); got != c.want {
			t.Errorf("%d periods of %q: %q, want %q", c.periods, c.lines, got, c.want)
		}
	}
	if _, got := printed(whole...).wholePeriods(time.UnixMilli(1000), 2); got != "too few periods are over" {
		t.Errorf("periods that began before: %q", got)
	}
	if first, _ := printed(whole...).wholePeriods(time.UnixMilli(0), 2); first != 1000 {
		t.Errorf("the first whole period begins at %d", first)
	}
	if n := printed(append(whole, g1+" run 1 2500", j1+" run 1 2600")...).twice(time.UnixMilli(0), 3000); n != 1 {
		t.Errorf("%d items ran twice in a period", n)
	}
}

// TestOverlapsAreJudged: two runs at a time are a fault, unless a process in Java that is cut off, or late, is
// one of them and the other one is right.
func TestOverlapsAreJudged(t *testing.T) {
	for _, c := range []struct {
		what   string
		lines  []string
		owner  []ownership
		cutOff string
		fault  bool
	}{
		{"two in Go", []string{g1 + " run 0 100", g2 + " run 0 150"}, []ownership{{g1, 0}, {g2, 120}}, "", true},
		{"one after the other", []string{g1 + " run 0 100", g1 + " done 0 140", g2 + " run 0 150"}, nil, "", false},
		{"a process that is gone", []string{g1 + " run 0 100", g1 + " gone - 140", g2 + " run 0 150"}, nil, "", false},
		{"Java is late", []string{j1 + " run 0 100", g1 + " run 0 150"}, []ownership{{j1, 0}, {g1, 90}}, "", false},
		{"Go is late", []string{j1 + " run 0 150", g1 + " run 0 160"}, []ownership{{g1, 0}, {j1, 120}}, "", true},
		{"Java is cut off", []string{j1 + " run 0 100", g1 + " run 0 150"}, []ownership{{j1, 0}}, j1, false},
	} {
		s := printed(c.lines...)
		s.owners.all[0] = c.owner
		s.cutOff[c.cutOff] = true
		fault := false
		all := s.runs()
		if a, b := all[0], all[1]; a.end == 0 || b.begin < a.end {
			fault = !s.fair(a, b)
		}
		if fault != c.fault {
			t.Errorf("%s: a fault: %t, want %t", c.what, fault, c.fault)
		}
	}
	if got := fmt.Sprint(printed(g1 + " run 1 5").called(g1)); got != "G1 "+g1 {
		t.Errorf("it is called %q", got)
	}
}
