package upgrade

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
)

// interval is a time during which a handle of an agent said, at both ends, that it leads or holds.
type interval struct {
	who      string
	from, to int64
}

// beliefs returns the intervals of the handles of these names, in every agent, sorted by their beginnings. One that was
// open when its process was killed ends at the last time that the agent wrote.
func (s *stage) beliefs(names ...string) (all []interval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := map[string]*interval{}
	for _, l := range s.lines {
		if len(l.words) != 4 || l.words[0] != "belief" || !slices.Contains(names, l.words[1]) {
			continue
		}
		at, err := strconv.ParseInt(l.words[3], 10, 64)
		if err != nil {
			s.t.Errorf("%s: %q", l.from, l.words)
		}
		key := fmt.Sprintf("%p %s", l.from, l.words[1])
		if l.words[2] == "leads" {
			open[key] = &interval{fmt.Sprintf("%s of %s", l.words[1], l.from), at, at}
		}
		open[key].to = at
		if l.words[2] == "stops" {
			all = append(all, *open[key])
			delete(open, key)
		}
	}
	for _, i := range open {
		all = append(all, *i)
	}
	slices.SortFunc(all, func(a, b interval) int { return int(min(1, max(-1, a.from-b.from))) })
	return all
}

// most returns the largest number of intervals that have an instant in common, and who they are.
func most(all []interval) (n int, who []string) {
	for _, i := range all {
		var at []string
		for _, other := range all {
			if other.from <= i.from && i.from <= other.to {
				at = append(at, other.who)
			}
		}
		if len(at) > n {
			n, who = len(at), at
		}
	}
	return n, who
}

// atMost demands that never more of the handles of these names believe at once, and that some did.
func (s *stage) atMost(limit int, names ...string) {
	s.t.Helper()
	all := s.beliefs(names...)
	n, who := most(all)
	if n > limit {
		s.t.Errorf("%d believe at once, of at most %d: %q", n, limit, who)
	}
	if n == 0 {
		s.t.Errorf("nobody was seen to believe, of %q", names)
	}
	s.t.Logf("%q: %d beliefs, at most %d at once", names, len(all), n)
}

// Two that believe at once are found, and so is a belief that was open when its process was killed.
func TestTwoThatBelieveAtOnceAreFound(t *testing.T) {
	s := &stage{t: t, more: make(chan struct{})}
	a, b := s.member("a", "old"), s.member("b", "new")
	for _, l := range []struct {
		from *member
		text string
	}{
		{a, "belief l leads 10"}, {a, "belief l stops 20"}, {b, "belief l leads 21"}, {b, "belief l holds 40"},
		{a, "belief other leads 30"},
	} {
		s.hear(l.from, l.text)
	}
	if n, who := most(s.beliefs("l")); n != 1 {
		t.Errorf("%d believe at once: %q", n, who)
	}
	s.hear(a, "belief l leads 40")
	if n, who := most(s.beliefs("l")); n != 2 {
		t.Errorf("%d believe at once: %q", n, who)
	}
}
