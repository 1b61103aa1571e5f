//go:build unix

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/events"
)

const formerLogs = "../../events/testdata/format1"

// A log that an earlier version wrote cannot be replayed, because charts changed since;
// --print shows all of it, in the words of the log.
func TestPrintOfLogsOfEarlierVersions(t *testing.T) {
	files, err := filepath.Glob(formerLogs + "/*.jsonl")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			records := bytes.Split(bytes.TrimSpace(b), []byte("\n"))[1:]
			p := start(t, nil, "replay", file).Exits(2)
			programtest.Contains(t, p.Err.String(), `the chart "`, "replay it with the version that wrote it; --print shows its records")
			if p.Out.String() != "" {
				t.Errorf("without --print it said %q", p.Out)
			}

			p = start(t, nil, "replay", file, "--print").Exits(2)
			programtest.Contains(t, p.Err.String(), `the chart "`, "replay it with the version that wrote it")
			lines := strings.Split(strings.TrimSpace(p.Out.String()), "\n")[1:]
			objects := start(t, nil, "replay", file, "--print", "--json").Exits(2).Objects()
			if len(lines) != len(records) || len(objects) != len(records)+1 {
				t.Fatalf("of %d records %d are printed, and %d as JSON", len(records), len(lines), len(objects)-1)
			}
			for i, record := range records {
				var rec events.Record
				if err := json.Unmarshal(record, &rec); err != nil {
					t.Fatal(err)
				}
				programtest.Contains(t, lines[i], fmt.Sprintf("%d ", rec.Seq), string(rec.Machine), rec.From, rec.To)
				if kind := objects[i]["event"].(map[string]any)["kind"]; kind != string(rec.Event.Kind) {
					t.Errorf("record %d: %s was printed as %s", rec.Seq, rec.Event.Kind, kind)
				}
			}
			if last := objects[len(records)]; last["same"] != false || !strings.Contains(fmt.Sprint(last["error"]), "changed") {
				t.Errorf("the last object: %v", last)
			}
		})
	}
}

// To write the golden output again: go run ./cmd/incumbent replay --print
// events/testdata/format1/session.jsonl > cmd/incumbent/testdata/format1_session.txt
func TestPrintOfAFormerLogIsGolden(t *testing.T) {
	want, err := os.ReadFile("testdata/format1_session.txt")
	if err != nil {
		t.Fatal(err)
	}
	got := start(t, nil, "replay", formerLogs+"/session.jsonl", "--print").Exits(2).Out.String()
	if got != string(want) {
		gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Fatalf("line %d is\n%s\nwant\n%s", i+1, gotLines[i], wantLines[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(gotLines), len(wantLines))
	}
}

// --print names the server of a connection, its address, and why it ended.
func TestPrintOfConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := events.NewWriter(f, events.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for i, ev := range []events.Event{
		{Kind: events.ConnectionAttached, Server: "zk1:2181", Address: "10.0.0.1:2181"},
		{Kind: events.ConnectionSuspended, Server: "zk1:2181", End: events.ConnectionEndSilent},
		{Kind: events.ConnectionAttached, Server: "10.0.0.2:2181", Address: "10.0.0.2:2181"},
	} {
		if err := w.Write(events.Record{Seq: uint64(i + 1), Machine: events.SessionMachine, Event: ev, Row: string(ev.Kind)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	p := start(t, nil, "replay", path, "--print").Exits(3)
	programtest.Contains(t, p.Out.String(), "connection.attached (zk1:2181, 10.0.0.1:2181)\n", "connection.suspended (zk1:2181, silent)\n", "connection.attached (10.0.0.2:2181)\n")
}
