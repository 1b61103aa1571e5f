package incumbent

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// runs are the logs in a directory.
func runs(t *testing.T, dir string) []segments.Run {
	t.Helper()
	all, err := segments.Runs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// readRun reads a run to its end.
func readRun(t *testing.T, run segments.Run) (seqs []uint64, gaps []events.Gap, s *events.Segments) {
	t.Helper()
	open, end := run.Opener()
	defer end()
	s, err := events.NewSegments(open)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := s.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			return seqs, gaps, s
		case errors.As(err, &gap):
			gaps = append(gaps, *gap)
		case err != nil:
			t.Fatal(err)
		default:
			seqs = append(seqs, rec.Seq)
		}
	}
}

// step is a step of one record with a path of so many bytes, which gzip cannot shorten much.
func step(seq uint64, bytes int) []events.Record {
	dice := rand.New(rand.NewPCG(seq, 1))
	path := make([]byte, bytes)
	for i := range path {
		path[i] = byte('0' + dice.IntN(64))
	}
	return []events.Record{{Seq: seq, Machine: "m-1", Event: events.Event{Kind: events.CommandStart, Path: fmt.Sprint("/", seq, string(path))}, Row: "command.start"}}
}

// recorderTo is a recorder without a client.
func recorderTo(w io.Writer, log *journal.Logger, room int) (*recorder, error) {
	now := clock.SinceStart()
	r, err := newRecorder(newWriterOutput(w, events.Header{}, now), log, now, room)
	if err == nil {
		r.start(nil)
	}
	return r, err
}

// inDir is a recorder without a client that writes into a directory.
func inDir(t *testing.T, dir string, o RecordOptions) (*recorder, *lines) {
	t.Helper()
	o, err := o.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	now, logged := clock.SinceStart(), &lines{}
	h := events.Header{Start: time.Now().UTC().Format(time.RFC3339Nano), Host: "host", PID: 7, Run: "r"}
	out, err := newDirOutput(dir, o, h, now, func() time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecorder(out, journal.New(zerolog.New(logged), ""), now, recordRoom)
	fine(t, err)
	r.start(nil)
	return r, logged
}

// A log is in several segments. They are one log, and only the newest are kept.
func TestSegmentsAreOneLog(t *testing.T) {
	many := uint64(selection.Of(t, "records", 500, 500, 2000))
	for name, keep := range map[string]int64{"all": -1, "some": 128 << 10} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new", "dir")
			virtual.Test(t, func(t *testing.T) {
				r, _ := inDir(t, dir, RecordOptions{Segment: 64 << 10, Keep: keep, Sync: SyncAlways})
				for seq := range many {
					r.record(step(seq+1, 1000))
					if seq%50 == 0 { // each segment is closed before the next is long
						synctest.Wait()
					}
				}
				<-r.close()
			})
			all := runs(t, dir)
			if len(all) != 1 {
				t.Fatalf("%d runs", len(all))
			}
			seqs, gaps, s := readRun(t, all[0])
			if s.End() == nil || s.End().Why != events.EndClosed || seqs[len(seqs)-1] != many {
				t.Errorf("it ends with %d: %+v", seqs[len(seqs)-1], s.End())
			}
			if keep == -1 && (len(seqs) != int(many) || len(gaps) != 0 || len(all[0].Files) < int(many/100)) {
				t.Errorf("%d records, the gaps %v, %d files", len(seqs), gaps, len(all[0].Files))
			}
			if keep != -1 && (len(gaps) != 1 || gaps[0].From != 1 || gaps[0].To+1 != seqs[0] || !strings.Contains(gaps[0].Why, "are not there")) {
				t.Errorf("%d records, the gaps %v", len(seqs), gaps)
			}
			for _, file := range all[0].Files {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || !strings.HasSuffix(file, ".jsonl.gz") {
					t.Errorf("%s: %v, %v", file, info.Mode(), err)
				}
			}
		})
	}
}

// Segments that do not belong together are told.
func TestSegmentsThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	virtual.Test(t, func(t *testing.T) {
		r, _ := inDir(t, dir, RecordOptions{Segment: 64 << 10, Keep: -1})
		for seq := range uint64(300) {
			r.record(step(seq+1, 1000))
			synctest.Wait()
		}
		<-r.close()
	})
	run := runs(t, dir)[0]
	if len(run.Files) < 4 {
		t.Fatalf("%d files", len(run.Files))
	}
	for says, files := range map[string][]string{
		"segment 2 follows segment 3":       {run.Files[0], run.Files[1], run.Files[2], run.Files[1]},
		"the segments 2 to 2 are not there": {run.Files[0], run.Files[2]},
		"the segments 1 to 1 are not there": run.Files[1:],
		"segment 1 follows segment 1":       {run.Files[0], run.Files[0]},
	} {
		open, end := segments.Run{Name: "x", Files: files}.Opener()
		s, err := events.NewSegments(open)
		for err == nil {
			_, err = s.Next()
		}
		end()
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// When the directory cannot be written, records are dropped; when it can again, the log goes
// on in another segment, and says what is missing.
func TestADirectoryThatFails(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r, logged := inDir(t, dir, RecordOptions{})
		r.record(step(1, 10))
		r.record(step(2, 10))
		synctest.Wait()
		out := r.out.(*dirOutput)
		out.file.Discard(out.good) // as if the disk failed: the file takes nothing any longer
		r.record(step(3, 10))
		synctest.Wait()
		during := r.state()
		if during.Err == nil || during.Gaps != 1 || during.Dropped != 1 || len(logged.with("cannot be written")) != 1 {
			t.Fatalf("%+v, %q", during, logged.all)
		}
		r.record(step(4, 10))
		pass(retryOutput)
		r.record(step(5, 10))
		<-r.close()
		after := r.state()
		if after.Err != nil || after.Gaps != 1 || after.Dropped != 2 || after.Records != 3 || len(logged.with("is written again")) != 1 {
			t.Errorf("%+v, %q", after, logged.all)
		}
		all := runs(t, dir)
		seqs, gaps, s := readRun(t, all[0])
		if !slices.Equal(seqs, []uint64{1, 2, 5}) || len(gaps) != 1 || gaps[0].From != 3 || gaps[0].To != 4 || !strings.Contains(gaps[0].Why, "could not be written for 5s") || s.End() == nil {
			t.Errorf("%v, %v, %+v", seqs, gaps, s.End())
		}
	})
}

// A directory that vanishes is created again.
func TestADirectoryThatVanishes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		r, logged := inDir(t, dir, RecordOptions{})
		r.record(step(1, 10))
		synctest.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		pass(2 * time.Minute)
		r.record(step(2, 10))
		pass(time.Minute)
		r.record(step(3, 10))
		<-r.close()
		seqs, gaps, _ := readRun(t, runs(t, dir)[0])
		if !slices.Equal(seqs, []uint64{3}) || len(gaps) == 0 || len(logged.with("deleted or renamed")) != 1 {
			t.Errorf("%v, %v, %q", seqs, gaps, logged.all)
		}
	})
}

// A leader whose log is a pipe that nobody reads stays the leader, and the log says what it
// lacks.
func TestAPipeThatNobodyReads(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, logged := &blockingFile{}, &lines{}
		n := w.recorded(log, logged, 8<<10)
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

func TestOptionsOfRecordInThatAreWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dangling := file + ".link"
	if err := os.Symlink(file+".missing", dangling); err != nil {
		t.Fatal(err)
	}
	used := RecordIn(t.TempDir(), RecordOptions{})
	used.taken.Store(true)
	for says, d := range map[string]*RecordDir{
		"less than 64 KiB":       RecordIn(t.TempDir(), RecordOptions{Segment: 1}),
		"less than two segments": RecordIn(t.TempDir(), RecordOptions{Keep: 1}),
		"Sync is unknown":        RecordIn(t.TempDir(), RecordOptions{Sync: 9}),
		"out of range":           RecordIn(t.TempDir(), RecordOptions{Ring: -1}),
		"is no directory":        RecordIn(file, RecordOptions{}),
		"no directory: name one": RecordIn("", RecordOptions{}),
		"RecordIn has no dir":    nil,
		"more than 1 TiB":        RecordIn(t.TempDir(), RecordOptions{Segment: math.MaxInt64, Keep: math.MaxInt64}),
		"leads to no directory":  RecordIn(dangling, RecordOptions{}),
		"name one, or remove it": RecordIn(file, RecordOptions{Ring: 1}),
		"not a directory":        RecordIn(file+"/sub", RecordOptions{Ring: 1}),
		"another client already": used,
	} {
		c, err := Open(t.Context(), Config{Servers: "192.0.2.1:2181", Record: d})
		if err == nil {
			c.Close(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %s", err, says)
		}
	}
	if _, err := RecordIn("x", RecordOptions{}).Write(nil); err == nil {
		t.Error("it can be written to")
	}
}

// A RecordDir with which Open failed belongs to no client: when its directory is mended, Open takes it.
func TestARecordDirAfterOpenFailed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := RecordIn(file, RecordOptions{})
	open := func() error {
		c, err := Open(t.Context(), Config{Servers: "192.0.2.1:2181", Record: d})
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
	for name, o := range map[string]RecordOptions{"segments": {Segment: 64 << 10, Keep: -1}, "the last records": {Ring: 10}} {
		t.Run(name, func(t *testing.T) {
			here, there := t.TempDir(), t.TempDir()
			t.Chdir(here)
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				n := w.recorded(RecordIn("log", o), io.Discard, recordRoom)
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
			if all := runs(t, filepath.Join(here, "log")); len(all) != 1 || o.Ring == 0 && len(all[0].Files) < 2 {
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
		n := w.recorded(f, logged, recordRoom)
		work := n.leads()
		defer work.Release()
		pass(time.Minute)
		if work.Check() != nil || !errors.Is(n.Recording().Err, syscall.ENOSPC) || len(logged.with("recording ended")) != 1 {
			t.Errorf("%v, %+v, %q", work.Check(), n.Recording(), logged.all)
		}
	})
}

// The last records of a leader that loses its leadership are written by themselves.
func TestTheLastRecordsAreWrittenAtALoss(t *testing.T) {
	dir := t.TempDir()
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		logged := &lines{}
		n := w.recorded(RecordIn(dir, RecordOptions{Ring: 12}), logged, recordRoom)
		work := n.leads()
		n.busyFor(3)
		var b strings.Builder
		if err := n.DumpRecord(&b); err != nil || strings.Count(b.String(), `{"seq":`) < 12 || strings.Count(b.String(), `{"seq":`) > 30 {
			t.Errorf("%v\n%s", err, b.String())
		}
		if len(runs(t, dir)) != 0 {
			t.Error("it is written while nothing happens")
		}
		n.w.srv.Freeze(zkmem.Outbound)
		pass(time.Minute)
		n.w.srv.Heal()
		<-work.Context().Done()
		work.Release()
		if found := logged.with("the last records were written"); len(found) == 0 || !strings.Contains(found[0], "was lost") {
			t.Errorf("%q", logged.all)
		}
	})
	all := runs(t, dir)
	if len(all) == 0 {
		t.Fatal("nothing was written")
	}
	seqs, gaps, s := readRun(t, all[0])
	if len(seqs) < 12 || len(seqs) > 40 || len(gaps) != 1 || gaps[0].To+1 != seqs[0] || !strings.Contains(s.Header().Dump, "was lost") || s.End().Why != s.Header().Dump {
		t.Errorf("%v, %v, %+v", seqs, gaps, s.Header())
	}
	sum, notes, err := replayed(t, all[0])
	if err != nil || len(notes) != 1 || sum.After != notes[0].Seq || sum.Records != uint64(len(seqs)) {
		t.Errorf("%d of %d records replay after %d: %v", sum.Records, len(seqs), sum.After, err)
	}
}
