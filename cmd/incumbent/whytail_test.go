package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// writeTail writes a client's log from a record on, as the second segment of a run: first a checkpoint of all machines,
// if it is wanted.
func writeTail(t *testing.T, file string, records []events.Record, from int, checkpoint bool) {
	t.Helper()
	var b bytes.Buffer
	w, err := events.NewWriter(&b, events.Header{Run: strings.Repeat("c", 32), Segment: 2, Before: records[from-1].Seq, Start: "2026-11-25T00:00:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	if checkpoint {
		left := records[:from]
		sum, err := engine.ReplayRecords(func() (events.Record, error) {
			r := left[0]
			left = left[1:]
			return r, nil
		}, uint64(from), machines.Recipes()...)
		if err != nil {
			t.Fatal(err)
		}
		state, err := sum.Engine.Checkpoint().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := w.WriteNote(events.Note{Checkpoint: &events.Checkpoint{Seq: records[from-1].Seq, State: state}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records[from:] {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A log whose first segments are missing is replayed from its checkpoint. Without one it is not, and a line says so. What
// differs behind the checkpoint is found.
func TestWhyReplaysFromACheckpoint(t *testing.T) {
	dir, _ := busyLogs(t, 1500)
	file := filepath.Join(dir, "client1.log")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := events.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var records []events.Record
	for {
		r, err := log.Next()
		if err != nil {
			break
		}
		records = append(records, r)
	}
	from := len(records) / 2
	for from < len(records) && (records[from].Internal || records[from].Cause == records[from-1].Seq || records[from].From == "leading") {
		from++ // the beginning of a step, while another one leads
	}
	writeTail(t, file, records, from, true)
	if code, out, notes := whyOf(t, dir); code != 0 && code != exitCannotTell || notes != "" || !strings.Contains(out, "gap of") {
		t.Errorf("with a checkpoint: exit %d\n%s%s", code, out, notes)
	}
	writeTail(t, file, records, from, false)
	if code, _, notes := whyOf(t, dir); code != 0 && code != exitCannotTell || !strings.Contains(notes, "was not replayed behind its gap at record 1") {
		t.Errorf("without a checkpoint: exit %d\n%s", code, notes)
	}
	records[from+5].Effects = events.WrittenEffects("valid until 7s")
	writeTail(t, file, records, from, true)
	if code, _, notes := whyOf(t, dir); code != exitDiverged || !strings.Contains(notes, "does not replay") {
		t.Errorf("with another effect: exit %d\n%s", code, notes)
	}
}
