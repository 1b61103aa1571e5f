package program

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/why"
	"github.com/incumbent-go/incumbent/internal/world"
)

// recordedWorld is a simulated world that keeps its clients' records. If it is blind, clients see no permits but their
// own.
type recordedWorld struct {
	world.Idle
	*world.World
	records map[int][]events.Record
	blind   bool
}

func (w *recordedWorld) Recorded(c *world.Client, r events.Record) {
	w.records[c.ID()] = append(w.records[c.ID()], r)
}

func (w *recordedWorld) Feeding(_ *world.Client, env *events.Envelope) {
	ev := &env.Event
	if !w.blind || ev.Path != "/jobs/x/leases" {
		return
	}
	ev.Children = nil
	if ev.Stat != nil {
		stat := *ev.Stat
		stat.NumChildren, ev.Stat = 0, &stat
	}
}

func playWorld(tb testing.TB, clients int, p world.Program, blind bool) *recordedWorld {
	tb.Helper()
	w := &recordedWorld{records: map[int][]events.Record{}, blind: blind}
	script := world.Script{Seed: 7, Tick: 2 * time.Second, SyncLimit: 5, Timeout: 8 * time.Second}
	for range clients {
		script.Clients = append(script.Clients, p)
	}
	var err error
	if w.World, err = world.New(script, w); err != nil {
		tb.Fatal(err)
	}
	return w
}

// write writes the clients' logs to a directory, and returns how many records they have.
func (w *recordedWorld) write(tb testing.TB, dir string) (records int) {
	tb.Helper()
	for _, c := range w.Clients() {
		var file bytes.Buffer
		out, err := events.NewWriter(&file,
			events.Header{Start: "2026-11-25T00:00:00Z", StartAt: c.Clock() - w.Now()})
		if err != nil {
			tb.Fatal(err)
		}
		for _, r := range w.records[c.ID()] {
			records++
			if err := out.Write(r); err != nil {
				tb.Fatal(err)
			}
		}
		if err := out.Flush(); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("client%d.log", c.ID())), file.Bytes(), 0o600); err !=
			nil {
			tb.Fatal(err)
		}
	}
	return records
}

// whyOf runs why, and returns its exit code, and what it prints and notes.
func whyOf(t *testing.T, args ...string) (code int, out, notes string) {
	t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.CreateTemp(t.TempDir(), "said")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	code = Run(append([]string{"why"}, args...), nil, files[0], files[1])
	var said [2]string
	for i, f := range files {
		b, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		said[i] = string(b)
	}
	return code, said[0], said[1]
}

func newExplainer() *explainer {
	return &explainer{app: &app{App: cli.New("incumbent", nil, os.Stdout, os.Stderr)}}
}

// busyLogs returns a directory with the logs of three participants, one of which resigns each second for as long as a
// world takes actions, and how many records they have.
func busyLogs(tb testing.TB, want uint64) (dir string, records int) {
	tb.Helper()
	w := playWorld(tb, 3, world.Program{Recipe: "latch", Path: "/jobs/x"}, false)
	for resigned := 0; w.Records() < want; {
		w.Until(w.Now() + int64(time.Second))
		for _, c := range w.Clients() {
			if c.Holds() && resigned < 1000 {
				resigned++
				if err := w.Add(world.Action{At: w.Now() + 1, Do: world.Resign, Who: c.ID()}); err != nil {
					tb.Fatal(err)
				}
				break
			}
		}
	}
	dir = tb.TempDir()
	return dir, w.write(tb, dir)
}

// BenchmarkWhy reads, replays and explains 100,000 records. (The aim on two idle cores is 2 s and 300 MB.)
func BenchmarkWhy(b *testing.B) {
	dir, records := busyLogs(b, 100_000)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		files, _, err := findLogs([]string{dir})
		if err != nil {
			b.Fatal(err)
		}
		logs, err := newExplainer().readAll(files)
		if err != nil {
			b.Fatal(err)
		}
		if r := why.Explain(logs, nil, why.Options{}); r.Verdict != why.NeverProven {
			b.Fatal(r.Why)
		}
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// What reading, replaying and explaining allocates grows with the records, and no faster.
func TestWhyAllocatesByTheRecord(t *testing.T) {
	var bytesEach [2]float64
	for i, want := range []uint64{3000, 12_000} {
		dir, records := busyLogs(t, want)
		files, _, err := findLogs([]string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		logs, err := newExplainer().readAll(files)
		if err != nil {
			t.Fatal(err)
		}
		r := why.Explain(logs, nil, why.Options{})
		r.Lines(false)
		runtime.ReadMemStats(&after)
		if r.Verdict != why.NeverProven || len(r.Moves) < int(want)/300 {
			t.Fatalf("%s: %s, %d moves", r.Verdict, r.Why, len(r.Moves))
		}
		each := float64(after.Mallocs-before.Mallocs) / float64(records)
		bytesEach[i] = float64(after.TotalAlloc-before.TotalAlloc) / float64(records)
		t.Logf("%d records: %.0f allocations and %.0f bytes each", records, each, bytesEach[i])
		if each > 60 || bytesEach[i] > 6000 {
			t.Errorf("%d records: %.0f allocations and %.0f bytes each", records, each, bytesEach[i])
		}
	}
	if bytesEach[1] > 1.3*bytesEach[0] {
		t.Errorf("%.0f bytes for each of few records, %.0f of many", bytesEach[0], bytesEach[1])
	}
}

// A build whose clients do not see others' permits breaks the promise of a semaphore, and why finds it out. With
// clients that see them it finds nothing.
func TestWhyFindsTooManyPermits(t *testing.T) {
	for _, blind := range []bool{false, true} {
		w := playWorld(t, 3,
			world.Program{Recipe: "semaphore", Path: "/jobs/x",
				Options: map[string]string{"limit": "2", "permits": "1"}}, blind)
		w.Until(int64(5 * time.Minute))
		dir := t.TempDir()
		w.write(t, dir)
		want, says := 0, "Never more at once than allowed: "
		if blind {
			want, says = exitTwo, "MORE AT ONCE THAN ALLOWED: 3 permits of /jobs/x were held at once, of "+
				"2 that there are"
		}
		code, out, notes := whyOf(t, dir, "--path", "/jobs/x")
		if code != want || !bytes.Contains([]byte(out), []byte(says)) || notes != "" {
			t.Errorf("blind %v: exit %d, want %d and %q:\n%s%s", blind, code, want, says, out, notes)
		}
	}
}
