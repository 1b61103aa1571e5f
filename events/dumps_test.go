package events_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// dump is a log of the records from one to another of a run.
func dump(t *testing.T, why string, from, to uint64) string {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Run: strings.Repeat("a", 32), Before: from - 1, Dump: why})
	if err == nil && from > 1 {
		err = w.WriteNote(events.Note{Checkpoint: &events.Checkpoint{Seq: from - 1, State: []byte("{}")}})
	}
	for seq := from; err == nil && seq <= to; seq++ {
		err = w.Write(events.Record{Seq: seq, Machine: "session",
			Event: events.Event{Kind: events.TimerFired, At: int64(seq)}, Row: events.RowUnknown})
	}
	if err == nil {
		err = w.WriteEnd("asked for")
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readParts reads parts as one log. It returns what was read in short: records, gaps and the seqs of checkpoints.
func readParts(parts ...string) (read []string, err error) {
	s, err := events.NewSegments(func() (string, io.Reader, error) {
		if len(parts) == 0 {
			return "", nil, io.EOF
		}
		first := parts[0]
		parts = parts[1:]
		return "part", strings.NewReader(first), nil
	})
	if err != nil {
		return nil, err
	}
	s.Notes = func(n events.Note) {
		if n.Checkpoint != nil {
			read = append(read, fmt.Sprint("state ", n.Checkpoint.Seq))
		}
	}
	for {
		rec, err := s.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			return read, nil
		case errors.As(err, &gap):
			read = append(read, fmt.Sprintf("gap %d-%d", gap.From, gap.To))
		case err != nil:
			return read, err
		default:
			read = append(read, fmt.Sprint(rec.Seq))
		}
	}
}

// Dumps of one client are one log: what several have is read once, with the state before it once; what none has is a
// gap.
func TestDumpsThatOverlap(t *testing.T) {
	d := func(from, to uint64) string { return dump(t, "asked for", from, to) }
	for _, c := range []struct {
		parts []string
		want  string
	}{
		{[]string{d(1, 3)}, "1 2 3"},
		{[]string{d(1, 4), d(3, 6)}, "1 2 3 4 5 6"},
		{[]string{d(1, 6), d(3, 4), d(5, 7)}, "1 2 3 4 5 6 7"}, // the second has nothing of its own
		{[]string{d(1, 3), d(1, 3)}, "1 2 3"},
		{[]string{d(1, 2), d(3, 4)}, "1 2 state 2 3 4"},
		{[]string{d(4, 6), d(5, 7)}, "gap 1-3 state 3 4 5 6 7"},
		{[]string{d(1, 4), d(2, 5), d(9, 9)}, "1 2 3 4 5 gap 6-8 state 8 9"},
	} {
		if read, err := readParts(c.parts...); err != nil || strings.Join(read, " ") != c.want {
			t.Errorf("%q, %v; want %s", read, err, c.want)
		}
	}
}

// Segments that are no dumps never overlap, and a dump of another client is none of this one.
func TestWhatIsNoDumpDoesNotOverlap(t *testing.T) {
	d := func(from, to uint64) string { return dump(t, "", from, to) }
	if read, err := readParts(d(1, 4), d(3, 6)); err != nil || !slices.Equal(read, []string{"1", "2", "3", "4"}) {
		t.Errorf("%q, %v", read, err) // a log without segments is in one piece
	}
	other := strings.NewReplacer(strings.Repeat("a", 32), strings.Repeat("b", 32)).Replace(dump(t, "asked for", 3, 6))
	if read, err := readParts(dump(t, "asked for", 1, 4), other); err == nil {
		t.Errorf("%q", read)
	}
}
