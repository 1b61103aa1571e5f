package flightlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// notice is a step with a notice.
func notice(seq uint64, what events.Notice, reason events.Reason) []events.Record {
	one := step(seq, 10)
	one[0].Effects = events.Effects{events.Notify{What: what, Path: "/a", Reason: reason}}
	return one
}

// What is too little to count is below the bound, in both directions.
func TestWhenClocksWentApart(t *testing.T) {
	for n, want := range map[int64]int64{
		0: 0, clockJump - 1: 0, clockJump: clockJump, clockJump + 1: clockJump + 1,
		1 - clockJump: 0, -clockJump: -clockJump, -clockJump - 1: -clockJump - 1,
	} {
		if got := beyondJump(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

// A log in one piece says what the clocks are in each minute, and once for what is flushed together.
func TestALogInOnePieceSaysTheClocks(t *testing.T) {
	var log bytes.Buffer
	began, ahead := time.Now(), time.Duration(0)
	out := NewWriterOutput(&log, events.Header{}, func() int64 { return int64(time.Since(began) + ahead) })
	if err := out.begin(0); err != nil {
		t.Fatal(err)
	}
	seq := uint64(0)
	for minute := range 3 {
		for range 2 {
			seq++
			if err := out.write(recorded{step: step(seq, 1)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := out.flush(); err != nil {
			t.Fatal(err)
		}
		if notes := strings.Count(log.String(), `{"clock":`); notes != minute {
			t.Errorf("after %d minutes there are %d notes of the clocks", minute, notes)
		}
		ahead += time.Minute
	}
}

// answering is a writer that answers each write so.
type answering struct {
	n   int
	err error
}

func (a answering) Write([]byte) (int, error) { return a.n, a.err }

// What a writer of the user's own says is checked, counted and passed on.
func TestWhatAWriterSays(t *testing.T) {
	disk := errors.New("disk")
	for _, c := range []struct {
		answering
		n     int
		err   error // nil: see says
		says  string
		bytes uint64
	}{
		{answering{5, nil}, 5, nil, "", 5}, {answering{5, disk}, 5, disk, "", 5}, {answering{3, disk}, 3, disk, "", 3},
		{answering{3, nil}, 3, io.ErrShortWrite, "", 3}, {answering{0, nil}, 0, io.ErrShortWrite, "", 0},
		{answering{6, nil}, 0, nil, "took 6 of 5 bytes", 0}, {answering{-1, disk}, 0, nil, "took -1 of 5 bytes", 0},
	} {
		s := &sink{w: c.answering}
		n, err := s.Write([]byte("12345"))
		if n != c.n || c.says == "" && !errors.Is(err, c.err) || c.says != "" &&
			!strings.Contains(fmt.Sprint(err), c.says) ||
			s.bytes.Load() != c.bytes || (err == nil) != (c.err == nil && c.says == "") {
			t.Errorf("%+v: %d, %v, and %d bytes", c.answering, n, err, s.bytes.Load())
		}
	}
}

// A term that begins or ends is forced to the disk with what is flushed then, and nothing else is.
func TestWhatIsForcedToTheDisk(t *testing.T) {
	for _, c := range []struct {
		sync Sync
		step []events.Record
		term bool
	}{
		{SyncTerms, step(1, 1), false}, {SyncTerms, notice(1, events.Elected, ""), true},
		{SyncTerms, notice(1, events.Stopped, events.ReasonClosed), true}, {SyncTerms, notice(1, "queued", ""), false},
		{SyncTerms, slices.Concat(step(1, 1), notice(2, events.Elected, "")), true},
		{SyncNever, notice(1, events.Elected, ""), false}, {SyncAlways, notice(1, events.Elected, ""), false},
	} {
		out := newDir(t, DirOptions{Sync: c.sync, Keep: 808, Segment: 1 << 20})
		if err := out.write(recorded{step: c.step}); err != nil || out.term != c.term {
			t.Errorf("%d, %v: a term %t, %v", c.sync, c.step, out.term, err)
		}
		if err := out.flush(); err != nil || out.term {
			t.Errorf("%d, %v: it is still to be forced to the disk, %v", c.sync, c.step, err)
		}
		if out.room() != 101 {
			t.Errorf("a checkpoint may have %d bytes", out.room())
		}
		if err := out.end(events.EndClosed); err != nil {
			t.Error(err)
		}
	}
	if room := (DirOptions{Keep: -1}).checkpointRoom(); room != math.MaxInt64 {
		t.Errorf("without a bound a checkpoint may have %d bytes", room)
	}
}

// newDir is an output into a directory, which has begun.
func newDir(t *testing.T, o DirOptions) *dirOutput {
	t.Helper()
	began := time.Now()
	h := events.Header{Start: began.UTC().Format(time.RFC3339Nano), Host: "host", PID: 7, Run: "r"}
	out, err := NewDirOutput(t.TempDir(), o, h, func() int64 { return int64(time.Since(began)) },
		func() time.Duration { return 0 })
	whole(t, err)
	whole(t, out.begin(0))
	return out.(*dirOutput)
}

// A segment is as long as the options say, and twice its checkpoints, to the byte; the next one counts from zero.
func TestWhenASegmentIsDue(t *testing.T) {
	out := newDir(t, DirOptions{Keep: -1})
	for round := range 2 {
		for _, head := range []int64{0, 100} {
			if head != 0 {
				note := &events.Note{Checkpoint: &events.Checkpoint{State: make([]byte, head)}}
				_ = out.write(recorded{note: note})
			}
			for segment, due := range map[int64]bool{out.good - 2*head - 1: true, out.good - 2*head: true,
				out.good - 2*head + 1: false} {
				if out.options.Segment = segment; out.due() != due {
					t.Errorf("round %d, %d bytes behind %d of a checkpoint, of %d: due %t", round, out.good,
						head, segment, !due)
				}
			}
		}
		out.discard()
		whole(t, out.begin(0))
	}
	whole(t, out.end(events.EndClosed))
}

// Without checkpoints a gap ends with the next step that has room: what follows is in the log.
func TestAGapEndsWithoutCheckpoints(t *testing.T) {
	const room = 2000
	r, err := New(NewWriterOutput(io.Discard, events.Header{}, func() int64 { return 0 }),
		journal.New(zerolog.Nop(), ""),
		func() int64 { return 0 }, room)
	whole(t, err)
	for round := range uint64(2) {
		for seq := 10*round + 1; r.gap == nil; seq++ {
			r.Record(step(seq, 10))
		}
		r.took(r.waiting-1, 0)
		r.queue = batch{}
		if r.Record(step(r.last+1, 10)); r.gap != nil || len(r.queue.entries) != 2 ||
			r.queue.entries[0].note.Gap == nil {
			t.Errorf("round %d: the gap is %+v, and %d entries wait", round, r.gap, len(r.queue.entries))
		}
		if s := r.State(); s.Gaps != round+1 || s.Dropped != round+1 {
			t.Errorf("round %d: %+v", round, s)
		}
		r.took(r.waiting, 0)
		r.queue = batch{}
	}
}

// gate is a log that takes nothing while it is shut.
type gate struct {
	bytes.Buffer
	open chan bool
}

func (g *gate) Write(b []byte) (int, error) {
	<-g.open
	return g.Buffer.Write(b)
}

// With checkpoints a gap ends with one, which is asked for when half of the room is free again; again after the
// next gap.
func TestACheckpointEndsAGap(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const room = 4000
		g, logged := &gate{open: make(chan bool, 1000)}, &lines{}
		g.open <- true // for the header
		r, err := New(NewWriterOutput(g, events.Header{}, func() int64 { return 0 }),
			journal.New(zerolog.New(logged), ""),
			func() int64 { return 0 }, room)
		whole(t, err)
		e := engine.New(true, machines.Recipes()...)
		e.Step(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandOpen,
			Recipe: "session"}})
		asked := 0
		r.checkpoints = func(begin func(uint64), take func(engine.Checkpoint)) bool {
			asked++
			begin(r.last)
			take(e.Checkpoint())
			return true
		}
		go r.run()
		seq := uint64(0)
		for round := 1; round <= 2; round++ {
			for r.State().Gaps < uint64(round) {
				seq++
				r.Record(step(seq, 10))
				synctest.Wait()
			}
			for range 20 {
				g.open <- true
			}
			synctest.Wait()
			seq++
			r.Record(step(seq, 10))
			for len(g.open) > 0 {
				synctest.Wait()
				select {
				case <-g.open:
				default:
				}
			}
			if asked != round || strings.Count(g.String(), `"checkpoint":`) != round || strings.Count(g.String(),
				`{"gap":`) != round {
				t.Fatalf("round %d: %d checkpoints were asked for:\n%s", round, asked, g.String())
			}
			if s := r.State(); s.Gaps != uint64(round) || s.Records+s.Dropped != seq {
				t.Errorf("round %d: %+v, of %d", round, s, seq)
			}
		}
		close(g.open)
		<-r.Close()
	})
}

// What comes within the delay is written together, when it is over and not later; at the end it is not waited for.
func TestEntriesAreCollectedForTheDelay(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		r, err := New(NewWriterOutput(io.Discard, events.Header{}, func() int64 { return 0 }),
			journal.New(zerolog.Nop(), ""),
			func() int64 { return 0 }, Room)
		whole(t, err)
		r.Delay = 5 * time.Second
		r.Start(nil)
		want := func(records uint64) {
			t.Helper()
			synctest.Wait()
			if got := r.State().Records; got != records {
				t.Errorf("%d records are written, want %d", got, records)
			}
		}
		for round := range uint64(2) {
			r.Record(step(2*round+1, 1))
			want(2 * round)
			elapse(3 * time.Second)
			r.Record(step(2*round+2, 1))
			elapse(2*time.Second - 1)
			want(2 * round)
			elapse(1)
			want(2*round + 2)
			elapse(time.Minute)
		}
		began := time.Now()
		r.Record(step(5, 1))
		<-r.Close()
		if want(5); time.Since(began) != 0 {
			t.Errorf("the end waited for %s", time.Since(began))
		}
	})
}

// A client that ends while its directory fails writes what is missing, and the end, if it can then.
func TestADirectoryThatFailsUntilTheEnd(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r, _ := inDir(t, dir, DirOptions{})
		r.Record(step(1, 10))
		synctest.Wait()
		out := r.out.(*dirOutput)
		_ = out.file.Discard(out.good)
		r.Record(step(2, 10))
		synctest.Wait()
		r.Record(step(3, 10))
		<-r.Close()
		seqs, gaps, s := logread.Run(t, logread.Runs(t, dir)[0])
		if !slices.Equal(seqs, []uint64{1}) || len(gaps) != 1 || gaps[0].From != 2 || gaps[0].To != 3 ||
			s.End() == nil {
			t.Errorf("%v, %v, %+v", seqs, gaps, s.End())
		}
	})
}

// What is kept alive by a step is counted, each byte of it.
func TestTheSizeOfAStepCountsEachText(t *testing.T) {
	for what, with := range map[string]func(text string) events.Record{
		"text":    func(s string) events.Record { return events.Record{Event: events.Event{Text: s}} },
		"path":    func(s string) events.Record { return events.Record{Event: events.Event{Path: s}} },
		"address": func(s string) events.Record { return events.Record{Event: events.Event{Address: s}} },
		"data":    func(s string) events.Record { return events.Record{Event: events.Event{Data: []byte(s)}} },
		"children": func(s string) events.Record {
			return events.Record{Event: events.Event{Children: []string{"", s}}}
		},
		"option name": func(s string) events.Record {
			return events.Record{Event: events.Event{Options: map[string]string{s: ""}}}
		},
		"option": func(s string) events.Record {
			return events.Record{Event: events.Event{Options: map[string]string{"": s}}}
		},
		"an operation's data": func(s string) events.Record {
			return events.Record{Event: events.Event{Ops: []events.Op{{Data: []byte(s)}}}}
		},
		"a created path": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Create{Path: s}}}
		},
		"created data": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Create{Data: []byte(s)}}}
		},
		"a path that is created with it": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Create{With: events.Op{Path: s}}}}
		},
		"data that are created with it": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Create{With: events.Op{Data: []byte(s)}}}}
		},
		"a transaction's path": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Multi{Ops: []events.Op{{Path: s}}}}}
		},
		"a word to another machine": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Tell{Event: events.Event{Text: s}}}}
		},
		"a notice": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Notify{Text: s}}}
		},
		"a notice's names": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Notify{Names: []string{s}}}}
		},
		"an answer": func(s string) events.Record {
			return events.Record{Effects: events.Effects{events.Answer{Text: s}}}
		},
	} {
		empty := sizeOf([]events.Record{with("")})
		full := sizeOf([]events.Record{with(strings.Repeat("x", 1000))})
		if full-empty != 1000 || sizeOf([]events.Record{with(""), with("")}) != 2*empty {
			t.Errorf("%s: 1000 bytes count as %d", what, full-empty)
		}
	}
}

// A line may be as long as a reader takes, to the byte.
func TestTheLongestLine(t *testing.T) {
	of := func(bytes int) []events.Record {
		return []events.Record{{Seq: 7, Machine: "m-1", Row: "command.start",
			Event: events.Event{Kind: events.CommandStart, Text: strings.Repeat("x", bytes)}}}
	}
	const some = events.MaxLine / 2
	longest := some + events.MaxLine - events.LineLength(of(some)[0])
	if gap, _ := unreadable(of(longest)); gap != nil {
		t.Errorf("a line of as many bytes as it may have is a gap: %+v", gap)
	}
	if gap, length := unreadable(of(longest + 1)); gap == nil || length != events.MaxLine+1 || gap.From != 7 ||
		gap.Count != 1 {
		t.Errorf("a line of a byte more: %+v, %d", gap, length)
	}
}
