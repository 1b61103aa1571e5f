package why

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The last line of a log in which a term is open says how it may have ended, if another participant leads later. A
// process that is killed between two segments leaves the same last line as one whose next segments are missing.
func TestWhatTheLastLineOfALogSays(t *testing.T) {
	for why, c := range map[string]struct {
		cause Cause
		says  string
	}{
		events.EndRotated: {CauseGap,
			"has a log that ends with the end of a segment: the process was killed there, or the last " +
				"segments are missing"},
		events.EndClosed: {CauseClosed, "was closed, with its client"},
		"SIGUSR1": {CauseGap,
			"has a log that ends with a dump of the records in memory (SIGUSR1), before its term ended"},
	} {
		s := newScene()
		s.end = &events.End{Why: why}
		logs := []*Log{s.read(t, "a"), newCrafted(2, 4300).read(t, "b")}
		r := Explain(logs, nil, Options{})
		said := strings.Join(r.Lines(false), "\n")
		if len(r.Moves) != 2 || r.Moves[1].Ending.Cause != c.cause || !strings.Contains(said, "a (token 1) "+c.says) {
			t.Errorf("%s:\n%s", why, said)
		}
	}
}

// A node of the same name that had gone before the election was another one: the directory was created again.
func TestASightingBeforeTheElectionIsOfAnotherNode(t *testing.T) {
	a, b := newCrafted(1, 1000), newCrafted(2, 5400)
	a.write(9, 1050, 1100)
	for sighted, want := range map[int64]bool{500: false, 1500: true} {
		first := *b
		first.records = nil
		first.add("latch-1", events.Event{Kind: events.WatchDeleted, At: sighted, Path: a.own}, "waiting", "waiting")
		first.records = append(first.records, b.records...)
		for i := range first.records {
			first.records[i].Seq = uint64(i + 1)
		}
		one, two := a.read(t, "a"), first.read(t, "b")
		one.Clock, two.Clock = "host", "host"
		h := newHistory([]*Log{one, two}, nil, defaultDrift)
		if why := h.livedOn(one.terms[0], two.terms[0]); (why != "") != want {
			t.Errorf("gone at %d: %q", sighted, why)
		}
	}
}
