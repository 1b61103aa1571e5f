package why

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// BenchmarkExplain reads and explains about 100,000 records of three participants, one of which
// leads most of the time.
func BenchmarkExplain(b *testing.B) {
	benchmarkExplain(b, world.Program{Recipe: "latch", Path: "/jobs/x"}, 100_000)
}

// BenchmarkExplainLocks does so with the records of three clients that lock again and again.
func BenchmarkExplainLocks(b *testing.B) {
	benchmarkExplain(b, world.Program{Recipe: "mutex", Path: "/locks/x", Works: time.Millisecond}, 300_000)
}

func benchmarkExplain(b *testing.B, p world.Program, want int) {
	files, records := benchmarkLogs(b, p, want)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		var logs []*Log
		for i, file := range files {
			r, err := events.NewReader(bytes.NewReader(file))
			if err != nil {
				b.Fatal(err)
			}
			l, err := Read(fmt.Sprint("client", i), r.Header, r)
			if err != nil {
				b.Fatal(err)
			}
			logs = append(logs, l)
		}
		if r := Explain(logs, nil, Options{}); len(r.Moves) < 3 {
			b.Fatal(r.Why)
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// benchmarkLogs returns the logs of a world that runs until it has as many records.
func benchmarkLogs(b *testing.B, p world.Program, want int) (files [][]byte, records int) {
	s := &simulated{records: map[int][]events.Record{}}
	script := world.Script{Seed: 1, Tick: 2 * time.Second, SyncLimit: 5, Timeout: 8 * time.Second}
	for i := range 3 {
		script.Clients = append(script.Clients, p)
		if p.Recipe == "latch" {
			script.Actions = append(script.Actions, world.Action{At: int64(i+1) * int64(20*time.Minute),
				Do: world.Resign, Who: i})
		}
	}
	w, err := world.New(script, s)
	if err != nil {
		b.Fatal(err)
	}
	s.World, s.skew = w, make([]int64, 3)
	for w.Records() < uint64(want) {
		w.Step(1000, time.Hour)
	}
	for _, c := range w.Clients() {
		var file bytes.Buffer
		out, err := events.NewWriter(&file, events.Header{Start: "2026-11-25T00:00:00Z", StartAt: s.ahead(c)})
		if err != nil {
			b.Fatal(err)
		}
		for _, r := range s.records[c.ID()] {
			records++
			if err := out.Write(r); err != nil {
				b.Fatal(err)
			}
		}
		if err := out.Flush(); err != nil {
			b.Fatal(err)
		}
		files = append(files, file.Bytes())
	}
	return files, records
}
