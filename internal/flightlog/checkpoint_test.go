package flightlog

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/logread"
)

// A checkpoint that would take more than its share of the directory is left out, and the
// log says so.
func TestACheckpointThatIsLeftOut(t *testing.T) {
	e := engine.New(true, machines.Recipes()...)
	e.Step(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandOpen, Recipe: "session"}})
	c := e.Checkpoint()
	text, err := c.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	notes := checkpointNotes(c, int64(len(text))-1)
	if one := notes[0].Checkpoint; len(notes) != 1 || one.State != nil || one.Seq != 1 ||
		!strings.Contains(one.Why, "an eighth of RecordOptions.Keep") {
		t.Errorf("%+v", notes)
	}
	notes = checkpointNotes(c, int64(len(text)))
	if one := notes[0].Checkpoint; len(notes) != 1 || string(one.State) != string(text) || one.Why != "" ||
		one.Of != 0 {
		t.Errorf("%+v", notes)
	}
}

// A record that is too long for a reader is a gap in a dump, too.
func TestADumpWithARecordThatIsTooLong(t *testing.T) {
	r := &Ring{least: 10, parts: []*ringPart{{}}}
	r.Granted = func() time.Duration { return 0 }
	r.Record(step(1, 10))
	r.Record([]events.Record{{Seq: 2, Machine: "m-1", Row: "command.start",
		Event: events.Event{Kind: events.CommandStart, Text: strings.Repeat("\x00", events.MaxLine/2)}}})
	r.Record(step(3, 10))
	var b bytes.Buffer
	if err := r.Dump(&b, "a test", 1<<20); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	seqs, gaps, s := logread.Run(t, segments.Run{Files: []string{name}})
	if !slices.Equal(seqs, []uint64{1, 3}) || len(gaps) != 1 || gaps[0].From != 2 ||
		!strings.Contains(gaps[0].Why, "has at most") || s.End() == nil {
		t.Errorf("%v, %v, %+v", seqs, gaps, s.End())
	}
}
