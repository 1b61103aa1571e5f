package door_test

import (
	"os"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// Dumps of one client at different times overlap. They are one log, which replays.
func TestDumpsOfOneClientAreOneLog(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 60}), &lines{}, 0)
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
	dumps := logread.Runs(t, dir)
	all := segments.JoinDumps(dumps)
	if len(dumps) != 4 || len(all) != 1 || len(all[0].Files) != 4 {
		t.Fatalf("%d dumps are %+v", len(dumps), all)
	}
	seqs, gaps, s := logread.Run(t, all[0])
	for i := range seqs[1:] {
		if seqs[i+1] != seqs[i]+1 {
			t.Errorf("record %d follows %d", seqs[i+1], seqs[i])
		}
	}
	total := 0
	for _, d := range dumps {
		some, _, _ := logread.Run(t, d)
		total += len(some)
	}
	if len(gaps) > 1 || total <= len(seqs) {
		t.Errorf("%d records, %d in all dumps together, and %v are missing", len(seqs), total, gaps)
	}
	if sum, _, err := logread.Replay(t, all[0]); err != nil || sum.Records != uint64(len(seqs)) || s.End() == nil {
		t.Errorf("%d of %d records replay: %v", sum.Records, len(seqs), err)
	}
}
