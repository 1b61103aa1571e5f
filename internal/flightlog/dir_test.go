package flightlog

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/clock"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/segments"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// step is a step of one record with a path of so many bytes, which gzip cannot shorten much.
func step(seq uint64, bytes int) []events.Record {
	dice := rand.New(rand.NewPCG(seq, 1))
	path := make([]byte, bytes)
	for i := range path {
		path[i] = byte('0' + dice.IntN(64))
	}
	return []events.Record{{Seq: seq, Machine: "m-1",
		Event: events.Event{Kind: events.CommandStart, Path: fmt.Sprint("/", seq, string(path))}, Row: "command.start"}}
}

// recorderTo is a recorder without a client.
func recorderTo(w io.Writer, log *journal.Logger, room int) (*Recorder, error) {
	now := clock.SinceStart()
	r, err := New(NewWriterOutput(w, events.Header{}, now), log, now, room)
	if err == nil {
		r.Start(nil)
	}
	return r, err
}

// inDir is a recorder without a client that writes into a directory.
func inDir(t *testing.T, dir string, o DirOptions) (*Recorder, *lines) {
	t.Helper()
	o.Segment, o.Keep = cmp.Or(o.Segment, 16<<20), cmp.Or(o.Keep, 256<<20)
	now, logged := clock.SinceStart(), &lines{}
	h := events.Header{Start: time.Now().UTC().Format(time.RFC3339Nano), Host: "host", PID: 7, Run: "r"}
	out, err := NewDirOutput(dir, o, h, now, func() time.Duration { return 0 })
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(out, journal.New(zerolog.New(logged), ""), now, Room)
	whole(t, err)
	r.Start(nil)
	return r, logged
}

// A log is in several segments. They are one log, and only the newest are kept.
func TestSegmentsAreOneLog(t *testing.T) {
	many := uint64(selection.Of(t, "records", 500, 500, 2000))
	for name, keep := range map[string]int64{"all": -1, "some": 128 << 10} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new", "dir")
			virtual.Test(t, func(t *testing.T) {
				r, _ := inDir(t, dir, DirOptions{Segment: 64 << 10, Keep: keep, Sync: SyncAlways})
				for seq := range many {
					r.Record(step(seq+1, 1000))
					if seq%50 == 0 { // each segment is closed before the next is long
						synctest.Wait()
					}
				}
				<-r.Close()
			})
			all := logread.Runs(t, dir)
			if len(all) != 1 {
				t.Fatalf("%d runs", len(all))
			}
			seqs, gaps, s := logread.Run(t, all[0])
			if s.End() == nil || s.End().Why != events.EndClosed || seqs[len(seqs)-1] != many {
				t.Errorf("it ends with %d: %+v", seqs[len(seqs)-1], s.End())
			}
			if keep == -1 && (len(seqs) != int(many) || len(gaps) != 0 || len(all[0].Files) < int(many/100)) {
				t.Errorf("%d records, the gaps %v, %d files", len(seqs), gaps, len(all[0].Files))
			}
			if keep != -1 &&
				(len(gaps) != 1 || gaps[0].From != 1 || gaps[0].To+1 != seqs[0] ||
					!strings.Contains(gaps[0].Why, "are not there")) {
				t.Errorf("%d records, the gaps %v", len(seqs), gaps)
			}
			for _, file := range all[0].Files {
				if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 ||
					!strings.HasSuffix(file, ".jsonl.gz") {
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
		r, _ := inDir(t, dir, DirOptions{Segment: 64 << 10, Keep: -1})
		for seq := range uint64(300) {
			r.Record(step(seq+1, 1000))
			synctest.Wait()
		}
		<-r.Close()
	})
	run := logread.Runs(t, dir)[0]
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
		r, logged := inDir(t, dir, DirOptions{})
		r.Record(step(1, 10))
		r.Record(step(2, 10))
		synctest.Wait()
		out := r.out.(*dirOutput)
		out.file.Discard(out.good) // as if the disk failed: the file takes nothing any longer
		r.Record(step(3, 10))
		synctest.Wait()
		during := r.State()
		if during.Err == nil || during.Gaps != 1 || during.Dropped != 1 || len(logged.with("cannot be written")) != 1 {
			t.Fatalf("%+v, %q", during, logged.all)
		}
		r.Record(step(4, 10))
		elapse(retryOutput)
		r.Record(step(5, 10))
		<-r.Close()
		after := r.State()
		if after.Err != nil || after.Gaps != 1 || after.Dropped != 2 || after.Records != 3 ||
			len(logged.with("is written again")) != 1 {
			t.Errorf("%+v, %q", after, logged.all)
		}
		all := logread.Runs(t, dir)
		seqs, gaps, s := logread.Run(t, all[0])
		if !slices.Equal(seqs, []uint64{1, 2, 5}) || len(gaps) != 1 || gaps[0].From != 3 || gaps[0].To != 4 ||
			!strings.Contains(gaps[0].Why, "could not be written for 5s") || s.End() == nil {
			t.Errorf("%v, %v, %+v", seqs, gaps, s.End())
		}
	})
}

// A directory that vanishes is created again.
func TestADirectoryThatVanishes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		r, logged := inDir(t, dir, DirOptions{})
		r.Record(step(1, 10))
		synctest.Wait()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		elapse(2 * time.Minute)
		r.Record(step(2, 10))
		elapse(time.Minute)
		r.Record(step(3, 10))
		<-r.Close()
		seqs, gaps, _ := logread.Run(t, logread.Runs(t, dir)[0])
		if !slices.Equal(seqs, []uint64{3}) || len(gaps) == 0 || len(logged.with("deleted or renamed")) != 1 {
			t.Errorf("%v, %v, %q", seqs, gaps, logged.all)
		}
	})
}

// elapse lets time pass, and what is due then happen.
func elapse(d time.Duration) {
	virtual.Sleep(d)
	synctest.Wait()
}

// whole fails if there is an error.
func whole(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
