package incumbent

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What a caller gives as the reason of a dump makes no log that cannot be read, or that seems to end as another one does. The
// file that SaveRecord names is there.
func TestReasonsOfDumps(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(RecordIn(dir, RecordOptions{Ring: 1}), &lines{}, recordRoom)
		work := n.leads()
		defer work.Release()
		n.busyFor(2)
		for why, want := range map[string]string{
			"": "asked for", events.EndClosed: "asked for: closed", events.EndRotated: "asked for: rotated", "a\nb\x00": "a\nb\x00",
			strings.Repeat("ü", events.MaxLine): strings.Repeat("ü", 500) + "…", "x" + strings.Repeat("ü", 1000): "x" + strings.Repeat("ü", 499) + "…",
		} {
			name, err := n.SaveRecord(why)
			if err != nil {
				t.Fatal(err)
			}
			run := segments.Run{Name: "x", Files: []string{name}}
			_, _, s := readRun(t, run)
			if h := s.Header(); h.Dump != want || s.End() == nil || s.End().Why != want {
				t.Errorf("%.20q: %.20q, %+.20v", why, h.Dump, s.End())
			}
			if sum, _, err := replayed(t, run); err != nil || sum.Cut {
				t.Errorf("%.20q: cut off %t, %v", why, sum.Cut, err)
			}
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%.20q: %v", why, err)
			}
			pass(time.Second)
		}
		if err := n.DumpRecord(nil); err == nil || !strings.Contains(err.Error(), "needs a writer") {
			t.Error(err)
		}
	})
}

// Dumps that are asked for at the same time are files of their own.
func TestDumpsAtTheSameTime(t *testing.T) {
	const many = 20
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(RecordIn(dir, RecordOptions{Ring: 20}), &lines{}, recordRoom)
		work := n.leads()
		defer work.Release()
		n.busyFor(2)
		var all sync.WaitGroup
		for range many {
			all.Go(func() {
				if _, err := n.SaveRecord("a test"); err != nil {
					t.Error(err)
				}
				if err := n.DumpRecord(io.Discard); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	dumps := runs(t, dir)
	if len(dumps) != many {
		t.Errorf("%d dumps", len(dumps))
	}
	for _, d := range dumps {
		if _, _, err := replayed(t, d); err != nil || len(d.Files) != 1 {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// A record that is too long for a reader is a gap in a dump, too.
func TestADumpWithARecordThatIsTooLong(t *testing.T) {
	c := &Client{}
	r := &ring{client: c, least: 10, parts: []*ringPart{{}}}
	r.record(step(1, 10))
	r.record([]events.Record{{Seq: 2, Machine: "m-1", Row: "command.start", Event: events.Event{Kind: events.CommandStart, Text: strings.Repeat("\x00", events.MaxLine/2)}}})
	r.record(step(3, 10))
	var b bytes.Buffer
	if err := r.dump(&b, "a test", 1<<20); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	seqs, gaps, s := readRun(t, segments.Run{Files: []string{name}})
	if !slices.Equal(seqs, []uint64{1, 3}) || len(gaps) != 1 || gaps[0].From != 2 || !strings.Contains(gaps[0].Why, "has at most") || s.End() == nil {
		t.Errorf("%v, %v, %+v", seqs, gaps, s.End())
	}
}
