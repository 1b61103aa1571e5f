package door_test

import (
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What a caller gives as the reason of a dump makes no log that cannot be read, or that seems to end as another one
// does. The
// file that SaveRecord names is there.
func TestReasonsOfDumps(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 1}), &lines{}, 0)
		work := n.leads()
		defer work.Release()
		n.busyFor(2)
		for why, want := range map[string]string{
			"": "asked for", events.EndClosed: "asked for: closed", events.EndRotated: "asked for: rotated",
			"a\nb\x00":                          "a\nb\x00",
			strings.Repeat("ü", events.MaxLine): strings.Repeat("ü", 500) + "…", "x" +
				strings.Repeat("ü", 1000): "x" + strings.Repeat("ü", 499) + "…",
		} {
			name, err := n.SaveRecord(why)
			if err != nil {
				t.Fatal(err)
			}
			run := segments.Run{Name: "x", Files: []string{name}}
			_, _, s := logread.Run(t, run)
			if h := s.Header(); h.Dump != want || s.End() == nil || s.End().Why != want {
				t.Errorf("%.20q: %.20q, %+.20v", why, h.Dump, s.End())
			}
			if sum, _, err := logread.Replay(t, run); err != nil || sum.Cut {
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
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 20}), &lines{}, 0)
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
	dumps := logread.Runs(t, dir)
	if len(dumps) != many {
		t.Errorf("%d dumps", len(dumps))
	}
	for _, d := range dumps {
		if _, _, err := logread.Replay(t, d); err != nil || len(d.Files) != 1 {
			t.Errorf("%+v: %v", d, err)
		}
	}
}
