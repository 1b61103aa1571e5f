package incumbent

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Dumps of one client at different times overlap. They are one log, which replays.
func TestDumpsOfOneClientAreOneLog(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(RecordIn(dir, RecordOptions{Ring: 60}), &lines{}, recordRoom)
		work := n.leads()
		defer work.Release()
		for range 4 {
			n.busyFor(2)
			name, err := n.SaveRecord("asked for")
			if _, statErr := os.Stat(name); err != nil || statErr != nil {
				t.Error(err, statErr)
			}
			pass(time.Second)
		}
	})
	dumps := runs(t, dir)
	all := segments.JoinDumps(dumps)
	if len(dumps) != 4 || len(all) != 1 || len(all[0].Files) != 4 {
		t.Fatalf("%d dumps are %+v", len(dumps), all)
	}
	seqs, gaps, s := readRun(t, all[0])
	for i := range seqs[1:] {
		if seqs[i+1] != seqs[i]+1 {
			t.Errorf("record %d follows %d", seqs[i+1], seqs[i])
		}
	}
	total := 0
	for _, d := range dumps {
		some, _, _ := readRun(t, d)
		total += len(some)
	}
	if len(gaps) > 1 || total <= len(seqs) {
		t.Errorf("%d records, %d in all dumps together, and %v are missing", len(seqs), total, gaps)
	}
	if sum, _, err := replayed(t, all[0]); err != nil || sum.Records != uint64(len(seqs)) || s.End() == nil {
		t.Errorf("%d of %d records replay: %v", sum.Records, len(seqs), err)
	}
}

// A process may end after Close, so Close waits for the file that a loss had written. Its error says if that takes too long.
func TestCloseWaitsForTheLastRecords(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		says  string
	}{"soon": {lastMoment / 4, ""}, "a hung disk": {time.Hour, "the last records could not be written"}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.recorded(RecordIn(t.TempDir(), RecordOptions{Ring: 12}), &lines{}, recordRoom)
				written := make(chan struct{})
				n.ring.done = written // a file that takes so long
				time.AfterFunc(c.takes, func() { close(written) })
				err := n.Close(context.Background())
				select {
				case <-written:
				default:
					if c.says == "" {
						t.Error("Close returns before the last records are written")
					}
				}
				if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
					t.Error(err)
				}
			})
		})
	}
}
