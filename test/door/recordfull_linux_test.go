package door_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// smallDisk returns a directory on a file system of its own, which has so few bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		realzk.NotRun(t, "a full disk (only root may mount one: "+err.Error()+")")
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A leader whose disk becomes full goes on, and its log says so. When there is room again, the log goes on in another
// file, which begins with what is missing and with a checkpoint, and so replays.
func TestADiskThatBecomesFull(t *testing.T) {
	disk := smallDisk(t, "256k")
	other, dir := filepath.Join(disk, "other"), filepath.Join(disk, "log")
	if err := os.WriteFile(other, make([]byte, 192<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	logged := &lines{}
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{}), logged, 0)
		work := n.leads()
		defer work.Release()
		n.busyFor(50)
		full := n.Recording()
		if work.Check() != nil || !errors.Is(full.Err, syscall.ENOSPC) || full.Gaps != 1 || full.Dropped == 0 {
			t.Errorf("%v, %+v", work.Check(), full)
		}
		if err := os.Remove(other); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Second)
		n.busyFor(5)
		if again := n.Recording(); work.Check() != nil || again.Err != nil || again.Gaps != 1 ||
			again.Records <= full.Records {
			t.Errorf("%v, %+v, then %+v", work.Check(), full, again)
		}
		pass(time.Second)
	})
	if len(logged.with("cannot be written")) != 1 || len(logged.with("is written again")) != 1 {
		t.Errorf("%q", logged.all)
	}
	all := logread.Runs(t, dir)
	if len(all) != 1 {
		t.Fatalf("%d runs", len(all))
	}
	seqs, gaps, s := logread.Run(t, all[0])
	if len(gaps) != 1 || !strings.Contains(gaps[0].Why, "no space left on device") || s.End() == nil || seqs[0] != 1 ||
		uint64(len(seqs))+gaps[0].Count != seqs[len(seqs)-1] {
		t.Errorf("%d records, the gaps %v, the end %+v", len(seqs), gaps, s.End())
	}
	sum, notes, _ := logread.Replay(t, all[0])
	if len(notes) == 0 || sum.Records != uint64(len(seqs)) {
		t.Errorf("%d of %d records replay, with %d checkpoints", sum.Records, len(seqs), len(notes))
	}
}
