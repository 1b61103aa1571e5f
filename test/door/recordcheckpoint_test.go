package door_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// busyFor has a client do work of many kinds while it leads, for so many rounds.
func (n *node) busyFor(rounds int) {
	n.w.t.Helper()
	for range rounds {
		l, err := n.Latch("/other", incumbent.LatchOptions{})
		if err == nil {
			err = l.Start()
		}
		if err != nil {
			n.w.t.Fatal(err)
		}
		held, err := l.Await(n.w.t.Context())
		if err != nil {
			n.w.t.Fatal(err)
		}
		if _, err := n.Exists("/").Do(n.w.t.Context()); err != nil {
			n.w.t.Fatal(err)
		}
		pass(time.Second)
		held.Release()
		if err := l.Close(n.w.t.Context()); err != nil {
			n.w.t.Fatal(err)
		}
	}
}

// A client's segments begin with checkpoints: from each, the rest of the log replays as the
// whole does, which compares them.
func TestSegmentsBeginWithCheckpoints(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: -1}), io.Discard, 0)
		work := n.leads()
		defer work.Release()
		n.busyFor(150)
		if work.Check() != nil {
			t.Error(work.Check())
		}
	})
	run := logread.Runs(t, dir)[0]
	whole, notes, err := logread.Replay(t, run)
	if err != nil || whole.After != 0 || len(run.Files) < 5 || len(notes) != len(run.Files)-1 {
		t.Fatalf("%d files, %d checkpoints, after %d: %v", len(run.Files), len(notes), whole.After, err)
	}
	for i := range run.Files[1:] {
		sum, rest, err := logread.Replay(t, segments.Run{Name: "x", Files: run.Files[i+1:]})
		if err != nil || sum.After != notes[i].Seq || sum.After+sum.Records != whole.Records ||
			len(rest) != len(notes)-i {
			t.Errorf("from file %d on: after %d, %d records of %d: %v", i+2, sum.After, sum.Records, whole.Records, err)
		}
	}
	if _, _, err := logread.Replay(t,
		segments.Run{Name: "x", Files: append(run.Files[:1:1], run.Files[2:]...)}); !errors.As(err, new(*events.Gap)) {
		t.Errorf("without the second file: %v", err)
	}
}

// What Keep leaves of a log replays, and takes no more room than it may.
func TestWhatIsKeptReplays(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: 128 << 10}),
			io.Discard, 0)
		work := n.leads()
		defer work.Release()
		n.busyFor(600)
		if work.Check() != nil {
			t.Error(work.Check())
		}
	})
	run := logread.Runs(t, dir)[0]
	sum, notes, err := logread.Replay(t, run)
	if err != nil || sum.After == 0 || sum.Records < 100 || notes[0].Seq != sum.After {
		t.Errorf("%d files, after %d, %d records: %v", len(run.Files), sum.After, sum.Records, err)
	}
}

// A checkpoint that is too long for a line is in several. The session, and with it all
// leaderships, stays while it is taken.
func TestALongCheckpoint(t *testing.T) {
	many := selection.Of(t, "latches", 100, 100, 200)
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Segment: 64 << 10, Keep: -1}), io.Discard, 0)
		work := n.leads()
		defer work.Release()
		for i := range many {
			l, err := n.Latch(fmt.Sprint("/many/", i, strings.Repeat("-", 900)), incumbent.LatchOptions{})
			if err == nil {
				err = l.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		pass(time.Minute)
		n.busyFor(50)
		if work.Check() != nil {
			t.Error(work.Check())
		}
	})
	run := logread.Runs(t, dir)[0]
	_, notes, err := logread.Replay(t, run)
	last := notes[len(notes)-1]
	several := slices.ContainsFunc(notes, func(c events.Checkpoint) bool { return c.Of > 1 && c.Part == c.Of })
	if err != nil || !several || last.Part != last.Of {
		t.Errorf("%d files, %d notes, the last is part %d of %d: %v", len(run.Files), len(notes), last.Part, last.Of,
			err)
	}
	sum, _, err := logread.Replay(t, segments.Run{Name: "x", Files: run.Files[len(run.Files)-1:]})
	if err != nil || sum.After == 0 || sum.Engine.Seq() == 0 {
		t.Errorf("the last file alone: %d records after %d: %v", sum.Records, sum.After, err)
	}
}
