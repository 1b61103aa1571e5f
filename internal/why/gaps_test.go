package why

import (
	"fmt"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// holed gives records to Read, and a gap in place of some.
type holed struct {
	each
	gap *events.Gap
}

func (h *holed) Next() (events.Record, error) {
	if g := h.gap; g != nil && len(h.left) > 0 && h.left[0].Seq == g.From {
		h.left, h.gap = h.left[g.Count:], nil
		return events.Record{}, g
	}
	return h.each.Next()
}

// withGap reads the logs of a world, and leaves out a part of one of them.
func (s *simulated) withGap(t *testing.T, client int) []*Log {
	t.Helper()
	logs, records := s.logs(t), s.records[client]
	from := 20 + s.dice.IntN(len(records))
	if from >= len(records)-1 {
		from = len(records) / 2
	}
	n := 1 + s.dice.IntN(min(40, len(records)-from))
	gap := &events.Gap{From: records[from].Seq, To: records[from+n-1].Seq, Count: uint64(n), Why: "the writer was slow"}
	l, err := Read(logs[client].Name, logs[client].Header, &holed{each{records}, gap})
	if err != nil || l.Records != len(records)-n || len(l.gaps) != 1 {
		t.Fatalf("%d of %d records, %d missing: %v", l.Records, len(records), n, err)
	}
	logs[client] = l
	return logs
}

// A gap makes what is said less exact, and not wrong: it hides a cause, and never shows another.
func TestGapsHideAndDoNotMislead(t *testing.T) {
	n, moves, hidden := selection.Of(t, "worlds", 40, 45, 100), 0, 0
	for seed := range uint64(n) {
		s := newSimulated(t, seed, false)
		if len(s.struck) == 0 {
			continue
		}
		r := Explain(s.withGap(t, s.struck[0].client), nil, Options{})
		both := s.twoAtOnce()
		if never := r.Verdict == NeverProven || r.Verdict == NeverMeasured; both > 0 && never ||
			both <= 0 && r.Verdict == TwoAtOnce {
			t.Errorf("world %d: %s (%s), and two led at once for %s", seed, r.Verdict, r.Why, both)
		}
		for _, m := range r.Moves {
			if m.From == nil || m.From.Token != s.struck[0].token || m.From.Log != r.logs[s.struck[0].client] {
				continue
			}
			moves++
			if m.Ending.Cause == CauseGap {
				hidden++
			}
			if done := s.Outcomes()[0]; done.Why == nil && m.Ending.Cause == CauseKilled &&
				!slices.ContainsFunc(s.struck, func(k strike) bool { return k.action.Do == world.Kill }) {
				t.Errorf("world %d: %s: %s", seed, fmt.Sprint(s.struck), r.paragraph(m.Path, m))
			}
		}
	}
	if moves < n/4 || hidden == 0 {
		t.Errorf("%d moves, of which %d are hidden", moves, hidden)
	}
}

// A log whose beginning is missing does not mislead either: what began there is open, and what is behind it is found.
func TestTailsDoNotMislead(t *testing.T) {
	n, truncated, never := selection.Of(t, "worlds", 40, 45, 100), 0, 0
	for seed := range uint64(n) {
		s := newSimulated(t, seed, seed%3 == 0)
		client := int(seed) % len(s.Clients())
		logs, records := s.logs(t), s.records[client]
		cut := 1 + s.dice.IntN(len(records)-1)
		gap := &events.Gap{From: 1, To: records[cut-1].Seq, Count: uint64(cut),
			Why: "the segments 1 to 1 are not there"}
		l, err := Read(logs[client].Name, logs[client].Header, &holed{each{records}, gap})
		if err != nil || len(l.gaps) != 1 {
			t.Fatal(err)
		}
		logs[client] = l
		r := Explain(logs, nil, Options{})
		both := s.twoAtOnce()
		if no := r.Verdict == NeverProven || r.Verdict == NeverMeasured; both > 0 && no && len(l.truncated) > 0 ||
			both <= 0 && r.Verdict == TwoAtOnce {
			t.Errorf("world %d: %s (%s), and two led at once for %s", seed, r.Verdict, r.Why, both)
		}
		if len(l.truncated) > 0 {
			truncated++
			if r.Verdict == NeverProven || r.Verdict == NeverMeasured {
				never++
			}
		}
		if l.holed() {
			t.Errorf("world %d: what is missing is before the first record", seed)
		}
	}
	t.Log(n, truncated, never)
	if truncated < n/10 {
		t.Errorf("in %d of %d worlds a term had no beginning", truncated, n)
	}
}
