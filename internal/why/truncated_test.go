package why

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A leader of which a log has only heartbeats is known from the checkpoint before them, and for how long it may
// believe.
func TestACheckpointShowsWhoLeads(t *testing.T) {
	for state, want := range map[string]Verdict{"leading": CannotTell, "waiting": NeverProven} {
		a := newCrafted(1, 100)
		for at := range int64(5) {
			a.add(events.SessionMachine,
				events.Event{Kind: events.ReplyMulti, At: 200 + at*300, Session: 1, ValidUntil: (1190 + at*300) * ms},
				"connected", "connected")
		}
		note := events.Note{Checkpoint: &events.Checkpoint{Seq: 2,
			State: []byte(`{"engine":{},"machines":[{"machine":{"id":"latch-1","recipe":"latch","state":"` + state +
				`"},"model":{}}]}`)}}
		source := &noting{each: each{a.records[2:]}, notes: map[uint64][]events.Note{3: {note}}}
		l, err := Read("a", events.Header{},
			&behindGap{noting: source,
				gap: &events.Gap{From: 1, To: 2, Count: 2, Why: "the segments 1 to 1 are not there"}})
		if err != nil || l.Records != 5 {
			t.Fatal(err, l.Records)
		}
		r := Explain([]*Log{l, newCrafted(2, 500).read(t, "b")}, nil, Options{})
		if r.Verdict != want || want == CannotTell &&
			!strings.Contains(r.Why, "a led in a term whose beginning is missing") {
			t.Errorf("%s: %s: %s", state, r.Verdict, r.Why)
		}
	}
}

// behindGap gives a gap before the records.
type behindGap struct {
	*noting
	gap *events.Gap
}

func (b *behindGap) Next() (events.Record, error) {
	if g := b.gap; g != nil {
		b.gap = nil
		return events.Record{}, g
	}
	return b.noting.Next()
}
