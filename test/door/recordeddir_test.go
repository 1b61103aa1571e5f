package door_test

import (
	"errors"
	"io"
	"math"
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

func TestOptionsOfRecordInThatAreWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dangling := file + ".link"
	if err := os.Symlink(file+".missing", dangling); err != nil {
		t.Fatal(err)
	}
	used := incumbent.RecordIn(t.TempDir(), incumbent.RecordOptions{})
	owner, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "192.0.2.1:2181", Record: used})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Close(t.Context()) }() // there is no server
	for says, d := range map[string]*incumbent.FlightLog{
		"less than 64 KiB":       incumbent.RecordIn(t.TempDir(), incumbent.RecordOptions{Segment: 1}),
		"less than two segments": incumbent.RecordIn(t.TempDir(), incumbent.RecordOptions{Keep: 1}),
		"Sync is unknown":        incumbent.RecordIn(t.TempDir(), incumbent.RecordOptions{Sync: 9}),
		"out of range":           incumbent.RecordIn(t.TempDir(), incumbent.RecordOptions{Ring: -1}),
		"is no directory":        incumbent.RecordIn(file, incumbent.RecordOptions{}),
		"no directory: name one": incumbent.RecordIn("", incumbent.RecordOptions{}),
		"RecordTo has no writer": incumbent.RecordTo(nil),
		"name one, such as":      {},
		"more than 1 TiB": incumbent.RecordIn(t.TempDir(),
			incumbent.RecordOptions{Segment: math.MaxInt64, Keep: math.MaxInt64}),
		"leads to no directory":  incumbent.RecordIn(dangling, incumbent.RecordOptions{}),
		"name one, or remove it": incumbent.RecordIn(file, incumbent.RecordOptions{Ring: 1}),
		"not a directory":        incumbent.RecordIn(file+"/sub", incumbent.RecordOptions{Ring: 1}),
		"another client already": used,
	} {
		c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "192.0.2.1:2181", Record: d})
		if err == nil {
			c.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// A FlightLog with which Open failed belongs to no client: when its directory is mended, Open takes it.
func TestAFlightLogAfterOpenFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := incumbent.RecordIn(file, incumbent.RecordOptions{})
	open := func() error {
		c, err := incumbent.Open(t.Context(), incumbent.Config{Servers: "192.0.2.1:2181", Record: d})
		if err == nil {
			c.Close(t.Context())
		}
		return err
	}
	for range 2 {
		if err := open(); err == nil || !strings.Contains(err.Error(), "is no directory") {
			t.Errorf("%v", err)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := open(); err != nil {
		t.Error(err)
	}
}

// A log goes on in the directory in which it began, wherever the program goes.
func TestALogWithARelativePath(t *testing.T) {
	for name, o := range map[string]incumbent.RecordOptions{"segments": {Segment: 64 << 10, Keep: -1},
		"the last records": {Ring: 10}} {
		t.Run(name, func(t *testing.T) {
			here, there := t.TempDir(), t.TempDir()
			t.Chdir(here)
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.recorded(incumbent.RecordIn("log", o), io.Discard, 0)
				if err := os.Chdir(there); err != nil {
					t.Fatal(err)
				}
				work := n.leads()
				defer work.Release()
				n.busyFor(50)
				if _, err := n.SaveRecord("a test"); o.Ring > 0 && err != nil {
					t.Error(err)
				}
			})
			entries, err := os.ReadDir(there)
			if err != nil || len(entries) != 0 {
				t.Errorf("%v, %v", entries, err)
			}
			if all := logread.Runs(t, filepath.Join(here, "log")); len(all) != 1 || o.Ring == 0 &&
				len(all[0].Files) < 2 {
				t.Errorf("%+v", all)
			}
		})
	}
}

// A full disk does not keep a service from starting.
func TestAFullDiskAtTheStart(t *testing.T) {
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&os.ModeDevice == 0 {
		realzk.NotRun(t, "a full disk (there is no /dev/full)")
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &lines{}
		n := w.recorded(incumbent.RecordTo(f), logged, 0)
		work := n.leads()
		defer work.Release()
		pass(time.Minute)
		if work.Check() != nil || !errors.Is(n.Recording().Err, syscall.ENOSPC) ||
			len(logged.with("recording ended")) != 1 {
			t.Errorf("%v, %+v, %q", work.Check(), n.Recording(), logged.all)
		}
	})
}

// The last records of a leader that loses its leadership are written by themselves.
func TestTheLastRecordsAreWrittenAtALoss(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &lines{}
		n := w.recorded(incumbent.RecordIn(dir, incumbent.RecordOptions{Ring: 12}), logged, 0)
		work := n.leads()
		n.busyFor(3)
		var b strings.Builder
		if err := n.DumpRecord(&b); err != nil || strings.Count(b.String(), `{"seq":`) < 12 ||
			strings.Count(b.String(), `{"seq":`) > 30 {
			t.Errorf("%v\n%s", err, b.String())
		}
		if len(logread.Runs(t, dir)) != 0 {
			t.Error("it is written while nothing happens")
		}
		n.w.srv.Freeze(zkmem.Outbound)
		pass(time.Minute)
		n.w.srv.Heal()
		<-work.Context().Done()
		work.Release()
		if found := logged.with("the last records were written"); len(found) == 0 ||
			!strings.Contains(found[0], "was lost") {
			t.Errorf("%q", logged.all)
		}
	})
	all := logread.Runs(t, dir)
	if len(all) == 0 {
		t.Fatal("nothing was written")
	}
	seqs, gaps, s := logread.Run(t, all[0])
	if len(seqs) < 12 || len(seqs) > 40 || len(gaps) != 1 || gaps[0].To+1 != seqs[0] ||
		!strings.Contains(s.Header().Dump, "was lost") || s.End().Why != s.Header().Dump {
		t.Errorf("%v, %v, %+v", seqs, gaps, s.Header())
	}
	sum, notes, err := logread.Replay(t, all[0])
	if err != nil || len(notes) != 1 || sum.After != notes[0].Seq || sum.Records != uint64(len(seqs)) {
		t.Errorf("%d of %d records replay after %d: %v", sum.Records, len(seqs), sum.After, err)
	}
}

// A leader whose log is a pipe that nobody reads stays the leader, and the log says what it
// lacks.
func TestAPipeThatNobodyReads(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, logged := &blockingFile{}, &lines{}
		n := w.recorded(incumbent.RecordTo(log), logged, 8<<10)
		work := n.leads()
		defer work.Release()
		log.hang()
		pass(time.Hour)
		if work.Check() != nil || n.Recording().Dropped == 0 {
			t.Errorf("%v, %+v", work.Check(), n.Recording())
		}
		log.open()
	})
}
