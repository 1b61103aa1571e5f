package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	h := events.Header{Run: strings.Repeat("c", 32), Segment: 2, Start: "2026-11-25T00:00:00Z"}
	writePart(t, file, h, records, from, checkpoint)
}

// writePart is writeTail with a header, which gets the record before; of a log from the first record on there is none.
func writePart(t *testing.T, file string, h events.Header, records []events.Record, from int, checkpoint bool) {
	t.Helper()
	if from > 0 {
		h.Before = records[from-1].Seq
	}
	var b bytes.Buffer
	w, err := events.NewWriter(&b, h)
	if err != nil {
		t.Fatal(err)
	}
	if checkpoint && from > 0 {
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
		if err := w.WriteNote(
			events.Note{Checkpoint: &events.Checkpoint{Seq: records[from-1].Seq, State: state}}); err != nil {
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

// recordsOf returns the records of a log.
func recordsOf(t *testing.T, file string) (h events.Header, records []events.Record) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := events.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		r, err := log.Next()
		if err != nil {
			return log.Header, records
		}
		records = append(records, r)
	}
}

// stepAt returns the first record at or behind a place that begins a step, while another client leads: behind the event
// from outside that ends the step before.
func stepAt(records []events.Record, from int) int {
	for from < len(records) && (records[from-1].Internal || records[from].From == "leading") {
		from++
	}
	return from
}

// Dumps of one client that overlap are one log, whatever their names are, and replay as one.
func TestWhyJoinsDumps(t *testing.T) {
	dir, _ := busyLogs(t, 1500)
	file := filepath.Join(dir, "client1.log")
	h, records := recordsOf(t, file)
	clocks := regexp.MustCompile(`(?m)^Times are UTC.*\n`) // which has logs in the order of their names
	moves := func(out string) string { return clocks.ReplaceAllString(out, "") }
	wantCode, want, _ := whyOf(t, dir, "--full")
	h.Run, h.Dump = strings.Repeat("c", 32), "asked for"
	third := len(records) / 3
	starts := []int{stepAt(records, third), 0, stepAt(records, 2*third)}
	ends := []int{stepAt(records, len(records)-third/2), stepAt(records, third+third/2), len(records)}
	for _, name := range []string{"client1-%d.log", "20261125T00000%d.000000Z-client1-7-000001.jsonl"} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		var files []string
		for i, from := range starts {
			h.Host = "client1"
			files = append(files, filepath.Join(dir, fmt.Sprintf(name, i)))
			writePart(t, files[i], h, records[:ends[i]], from, true)
		}
		code, out, notes := whyOf(t, dir, "--full")
		if out = strings.ReplaceAll(out, "client1-0:", "client1:"); code != wantCode ||
			moves(out) != moves(want) || notes != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s\nwant\n%s", name, code, wantCode, notes, out, want)
		}
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A log whose first segments are missing is replayed from its checkpoint. Without one it is not, and a line says so.
// What differs behind the checkpoint is found.
func TestWhyReplaysFromACheckpoint(t *testing.T) {
	dir, _ := busyLogs(t, 1500)
	file := filepath.Join(dir, "client1.log")
	_, records := recordsOf(t, file)
	from := stepAt(records, len(records)/2)
	writeTail(t, file, records, from, true)
	if code, out, notes := whyOf(t, dir); code != 0 && code != exitCannotTell || notes != "" ||
		!strings.Contains(out, "gap of") {
		t.Errorf("with a checkpoint: exit %d\n%s%s", code, out, notes)
	}
	writeTail(t, file, records, from, false)
	if code, _, notes := whyOf(t, dir); code != 0 && code != exitCannotTell ||
		!strings.Contains(notes, "was not replayed behind its gap at record 1") {
		t.Errorf("without a checkpoint: exit %d\n%s", code, notes)
	}
	records[from+5].Effects = events.Effects{events.Deadline{Until: 7e9}}
	writeTail(t, file, records, from, true)
	if code, _, notes := whyOf(t, dir); code != exitDiverged || !strings.Contains(notes, "does not replay") {
		t.Errorf("with another effect: exit %d\n%s", code, notes)
	}
}
