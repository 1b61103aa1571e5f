// Package logread reads the logs that clients of tests have recorded.
package logread

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/machines"
)

// Runs returns the logs in a directory.
func Runs(t *testing.T, dir string) []segments.Run {
	t.Helper()
	all, err := segments.Runs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Run reads a run to its end, and returns the numbers of its records.
func Run(t *testing.T, run segments.Run) (seqs []uint64, gaps []events.Gap, s *events.Segments) {
	t.Helper()
	open, end := run.Opener()
	defer end()
	s, err := events.NewSegments(open)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := s.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			return seqs, gaps, s
		case errors.As(err, &gap):
			gaps = append(gaps, *gap)
		case err != nil:
			t.Fatal(err)
		default:
			seqs = append(seqs, rec.Seq)
		}
	}
}

// Replay replays a run, and returns the lines of checkpoints in it, too.
func Replay(t *testing.T, run segments.Run) (sum engine.Replayed, notes []events.Checkpoint, err error) {
	t.Helper()
	open, end := run.Opener()
	defer end()
	s, err := events.NewSegments(open)
	if err != nil {
		t.Fatal(err)
	}
	s.Notes = func(n events.Note) {
		if n.Checkpoint != nil {
			notes = append(notes, *n.Checkpoint)
		}
	}
	sum, err = engine.ReplaySegments(s, 0, machines.Recipes()...)
	return sum, notes, err
}

// Whole reads a log of one piece to its end. Every number is in one record, or in one gap: the reader checks that.
func Whole(t *testing.T, log []byte) (records []uint64, gaps []events.Gap, last uint64) {
	t.Helper()
	r, err := events.NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			if r.Torn() {
				t.Error("the last line has no end")
			}
			return records, gaps, last
		case errors.As(err, &gap):
			gaps, last = append(gaps, *gap), gap.To
		case err != nil:
			t.Fatal(err)
		default:
			records, last = append(records, record.Seq), record.Seq
		}
	}
}
