package engine

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// behindAGap returns a log whose first records are missing: a checkpoint stands in their place.
func behindAGap(t *testing.T, seq uint64, state string, records ...events.Record) *events.Segments {
	t.Helper()
	var log bytes.Buffer
	w, err := events.NewWriter(&log, events.Header{Run: "r", Segment: 2, Before: seq})
	if err == nil {
		err = w.WriteNote(events.Note{Checkpoint: &events.Checkpoint{Seq: seq, State: []byte(state)}})
	}
	for _, r := range records {
		err = errors.Join(err, w.Write(r))
	}
	if err = errors.Join(err, w.WriteEnd(events.EndClosed)); err != nil {
		t.Fatal(err)
	}
	s, err := events.NewSegments(func() (string, io.Reader, error) { return "segment", &log, nil })
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Behind a gap the replay goes on from a checkpoint, up to the same state. One that is damaged, is of another record,
// or has a state in which machines panic, ends it with an error.
func TestReplayFromACheckpointBehindAGap(t *testing.T) {
	s := halfway(t)
	c := s.Checkpoint()
	good := text(t, c)
	rest(s)
	sum, err := ReplaySegments(behindAGap(t, c.Seq(), good, s.records[c.Seq():]...), 0, toys...)
	if err != nil || sum.After != c.Seq() || text(t, sum.Engine.Checkpoint()) != text(t, s.Checkpoint()) {
		t.Errorf("after %d, want %d: %v", sum.After, c.Seq(), err)
	}
	panics := events.Record{Seq: c.Seq() + 1, Machine: "b", Event: events.Event{Kind: events.CommandResign, Request: 9}}
	for want, log := range map[string]*events.Segments{
		`want the key "engine"`:              behindAGap(t, c.Seq(), `{}`),
		"it is of record 8, and stands":      behindAGap(t, c.Seq()+1, good),
		"after 0 records, a machine panics:": behindAGap(t, c.Seq(), good, panics),
	} {
		var bad *BadCheckpointError
		if _, err := ReplaySegments(log, 0, toys...); !errors.As(err, &bad) || !strings.Contains(bad.Why, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
