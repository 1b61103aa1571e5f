package events_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// The logs in testdata/format1 were written by an earlier version (the package before
// kinds were renamed). They are never rewritten. Each line is read, and is the same
// when it is written again: nothing in it was dropped or translated.
func TestLogsOfEarlierVersionsAreRead(t *testing.T) {
	files, err := filepath.Glob("testdata/format1/*.jsonl")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d logs, %v: none is ever taken away", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			log, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all, r, err := read(bytes.NewReader(log))
			if err != nil || r.Torn() {
				t.Fatalf("after %d records: torn %v, %v", len(all), r.Torn(), err)
			}
			lines := bytes.SplitAfter(log, []byte("\n"))
			again := bytes.NewBuffer(bytes.Clone(lines[0]))
			for _, rec := range all {
				line, err := events.Encode(rec)
				if err != nil {
					t.Fatal(err)
				}
				again.Write(line)
			}
			if got, want := strings.Split(again.String(), "\n"), strings.Split(string(log), "\n"); again.String() != string(log) {
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("line %d was\n%s\nand is\n%s", i+1, want[i], got[i])
					}
				}
				t.Fatalf("%d lines were %d", len(got), len(want))
			}
		})
	}
}

// Each kind of the log that holds all of them has a name today.
func TestCurrentKinds(t *testing.T) {
	log, err := os.ReadFile("testdata/format1/every_kind_and_field.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := read(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	today := map[events.Kind]bool{}
	for _, k := range events.Kinds() {
		today[k] = true
		if k.Current() != k {
			t.Errorf("%s is today's, and renamed to %s", k, k.Current())
		}
	}
	renamed := map[events.Kind]events.Kind{}
	for _, rec := range all {
		k := rec.Event.Kind
		if !today[k.Current()] {
			t.Errorf("%s has no name today", k)
		}
		if k.Current() != k {
			renamed[k] = k.Current()
		}
	}
	if len(renamed) != 4 || renamed["office.near"] != events.HeartbeatWanted || renamed["office.far"] != events.HeartbeatUnneeded ||
		renamed["latch.waits"] != events.LatchWaiting || renamed["queue.turn"] != events.QueueNext {
		t.Errorf("renamed: %v", renamed)
	}
	if k := events.Kind("office.dance"); k.Current() != k {
		t.Errorf("%s never was a kind", k)
	}
}
