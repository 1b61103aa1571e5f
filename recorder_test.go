package incumbent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// blockingFile is a log's file that blocks while it is shut.
type blockingFile struct {
	mu    sync.Mutex
	bytes bytes.Buffer
	shut  chan struct{} // nil: it is open
}

func (v *blockingFile) Write(b []byte) (int, error) {
	v.mu.Lock()
	shut := v.shut
	v.mu.Unlock()
	if shut != nil {
		<-shut
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.bytes.Write(b)
}

func (v *blockingFile) hang() { v.mu.Lock(); v.shut = make(chan struct{}); v.mu.Unlock() }
func (v *blockingFile) open() { v.mu.Lock(); close(v.shut); v.shut = nil; v.mu.Unlock() }

// lines collects what a client logs.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(b))
	return len(b), nil
}

func (l *lines) with(text string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, text) {
			found = append(found, line)
		}
	}
	return found
}

// recorded opens a client with a latch in line, whose log is a test's own. It is closed
// when the test ends.
func (w *world) recorded(log, logged io.Writer, room int) *node {
	w.t.Helper()
	n := &node{w: w}
	config := Config{
		Servers: "192.0.2.1:2181", Record: log, Logger: zerolog.New(logged),
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.dial(n) },
	}
	var err error
	from := w.sources(n)
	from.RecordRoom, from.RecordDelay = room, -1
	n.Client, err = Open(sources.With(context.Background(), from), config)
	fine(w.t, err)
	n.latch, err = n.Latch("/line", LatchOptions{})
	fine(w.t, err)
	fine(w.t, n.latch.Start())
	w.t.Cleanup(func() {
		if err := n.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
	})
	synctest.Wait()
	return n
}

// accounted reads a log to its end. Every number is in one record, or in one gap: the
// reader checks that.
func accounted(t *testing.T, log []byte) (records []uint64, gaps []events.Gap, last uint64) {
	t.Helper()
	r, err := events.NewReader(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.Next()
		var gap *events.Gap
		switch {
		case errors.Is(err, io.EOF):
			if r.Torn() {
				t.Error("the last line has no end")
			}
			return records, gaps, last
		case errors.As(err, &gap):
			gaps, last = append(gaps, *gap), gap.To
		case err != nil:
			t.Fatal(err)
		default:
			records, last = append(records, record.Seq), record.Seq
		}
	}
}

// TestTheLoopNeverWaitsForTheLog: a leader's log blocks for ten minutes. Requests return
// immediately, belief is renewed, and then the log says what is missing.
func TestTheLoopNeverWaitsForTheLog(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, logged := &blockingFile{}, &lines{}
		n := w.recorded(log, logged, 32<<10)
		work := n.leads()
		defer work.Release()
		synctest.Wait()
		before := n.Recording()
		if before.Records == 0 || before.Bytes != uint64(log.bytes.Len()) || before.Dropped+before.Gaps != 0 || before.Err != nil {
			t.Errorf("all is well: %+v", before)
		}
		log.hang()
		if _, err := n.Exists("/").Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the recorder hangs in the log, and takes nothing more from the room
		for range 10 {
			for range 20 {
				start := w.now()
				if _, err := n.Exists("/").Do(t.Context()); err != nil || w.now() != start {
					t.Fatalf("it took %s: %v", time.Duration(w.now()-start), err)
				}
			}
			pass(time.Minute)
			if work.Check() != nil || work.Context().Err() != nil || time.Until(work.ValidUntil()) < 3*time.Second {
				t.Fatalf("belief is not renewed: %v, valid for %s", work.Check(), time.Until(work.ValidUntil()))
			}
		}
		during := n.Recording()
		if during.Records > before.Records || during.Dropped < 100 || during.Gaps != 1 || len(logged.with("records are dropped")) != 1 {
			t.Errorf("while it hangs: %+v, logged %q", during, logged.with("dropped"))
		}
		log.open()
		synctest.Wait()
		if _, err := n.Exists("/").Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		after := n.Recording()
		records, gaps, _ := accounted(t, log.bytes.Bytes())
		if len(gaps) != 1 || gaps[0].Count != after.Dropped || uint64(len(records)) != after.Records || after.Gaps != 1 || after.Bytes != uint64(log.bytes.Len()) {
			t.Fatalf("the log has %d records and the gaps %v; %+v", len(records), gaps, after)
		}
		if !strings.HasPrefix(gaps[0].Why, "Config.Record was too slow for 9m") && !strings.HasPrefix(gaps[0].Why, "Config.Record was too slow for 10m") {
			t.Errorf("it hung for ten minutes: %q", gaps[0].Why)
		}
		if lines := logged.with("room again"); len(lines) != 1 || !strings.Contains(lines[0], fmt.Sprintf(`"dropped":%d`, after.Dropped)) {
			t.Errorf("the gap's end is logged as %q", lines)
		}
		sum, err := engine.Replay(bytes.NewReader(log.bytes.Bytes()), 0, machines.Recipes()...)
		var gap *events.Gap
		if !errors.As(err, &gap) || *gap != gaps[0] || sum.Records != after.Records || sum.Engine.Seq() <= gap.To {
			t.Errorf("a replay compares %d records: %v", sum.Records, err)
		}
	})
}

// failingFile is a log's file that takes some bytes and then does something else.
type failingFile struct {
	bytes.Buffer
	left int
	then func(b []byte) (int, error)
}

func (s *failingFile) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left < 0 {
		return s.then(b)
	}
	return s.Buffer.Write(b)
}

// TestALogThatFailsEndsTheRecording: whatever the writer does, leadership goes on; the
// error is reported once, and what was written before can be read.
func TestALogThatFailsEndsTheRecording(t *testing.T) {
	full := errors.New("no space left on device")
	for name, c := range map[string]struct {
		left int
		then func([]byte) (int, error)
		says string
	}{
		"an error":            {9000, func([]byte) (int, error) { return 0, full }, full.Error()},
		"an immediate error":  {0, func([]byte) (int, error) { return 0, full }, full.Error()},
		"a short write":       {9000, func(b []byte) (int, error) { return len(b) / 2, nil }, io.ErrShortWrite.Error()},
		"nothing, no error":   {9000, func([]byte) (int, error) { return 0, nil }, io.ErrShortWrite.Error()},
		"more than there was": {9000, func(b []byte) (int, error) { return len(b) + 1, nil }, "says that it took"},
		"less than nothing":   {9000, func([]byte) (int, error) { return -1, nil }, "says that it took -1"},
		"a panic":             {9000, func([]byte) (int, error) { panic("closed") }, "Config.Record panicked: closed"},
		"no return":           {9000, func([]byte) (int, error) { runtime.Goexit(); return 0, nil }, "Config.Record ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, logged := &failingFile{left: c.left, then: c.then}, &lines{}
				n := w.recorded(log, logged, recordRoom)
				work := n.leads()
				pass(5 * time.Minute)
				first := n.Recording()
				if first.Err == nil || !strings.Contains(first.Err.Error(), c.says) || len(logged.with("recording ended")) != 1 {
					t.Fatalf("%+v, logged %q", first, logged.with("recording"))
				}
				pass(5 * time.Minute)
				if work.Check() != nil {
					t.Error(work.Check())
				}
				work.Release()
				if err := n.Close(t.Context()); err != nil {
					t.Error(err)
				}
				synctest.Wait()
				last := n.Recording()
				if last.Records != first.Records || last.Dropped <= first.Dropped || last.Gaps != 0 || last.Err != first.Err || len(logged.with("recording ended")) != 1 {
					t.Errorf("%+v, and later %+v", first, last)
				}
				if c.left == 0 {
					return
				}
				records, _, _ := accounted(t, log.Bytes())
				if last.Records == 0 || uint64(len(records)) != last.Records || last.Bytes < uint64(log.Len()) {
					t.Errorf("%d records, %d bytes in the log; %+v", len(records), log.Len(), last)
				}
			})
		})
	}
}

// TestEveryRecordIsInTheLogOrInOneGap: whenever the writer blocks, and for how long, a log
// can be read, and every record is written, or in exactly one gap, with its whole step.
func TestEveryRecordIsInTheLogOrInOneGap(t *testing.T) {
	gapped, seeds := 0, selection.Of(t, "writers", 6, 20, 80)
	for seed := range uint64(seeds) {
		virtual.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 4))
			log := &slowFile{dice: rand.New(rand.NewPCG(seed, 5))}
			const room = 20000
			r, err := recorderTo(log, journal.New(zerolog.Nop(), ""), room)
			if err != nil {
				t.Fatal(err)
			}
			step := map[uint64]uint64{} // where the step of a record ends
			var seq uint64
			for range 400 {
				var records []events.Record
				for range 1 + dice.IntN(4) {
					seq++
					records = append(records, events.Record{Seq: seq, Machine: "m", Event: events.Event{Kind: events.CommandStart, Path: strings.Repeat("x", dice.IntN(2000))}, Row: "r"})
				}
				for _, record := range records {
					step[record.Seq] = seq
				}
				r.record(records)
				clear(records) // the engine uses them again
				if dice.IntN(3) == 0 {
					virtual.Sleep(time.Duration(dice.IntN(200)) * time.Millisecond)
				}
				if r.mu.Lock(); r.waiting > room {
					t.Fatalf("%d bytes wait, where there is room for %d", r.waiting, room)
				}
				r.mu.Unlock()
			}
			<-r.close()
			records, gaps, last := accounted(t, log.Bytes())
			var missing uint64
			for _, gap := range gaps {
				missing += gap.Count
				if step[gap.To] != gap.To || gap.From > 1 && step[gap.From-1] != gap.From-1 {
					t.Fatalf("seed %d: the gap %v cuts a step", seed, gap)
				}
			}
			state := r.state()
			if last != seq || state.Records != uint64(len(records)) || state.Dropped != missing || state.Gaps != uint64(len(gaps)) || state.Bytes != uint64(log.Len()) {
				t.Fatalf("seed %d: %d records up to %d of %d, the gaps %v; %+v", seed, len(records), last, seq, gaps, state)
			}
			gapped += len(gaps)
		})
	}
	if gapped < seeds {
		t.Errorf("%d gaps in %d logs: the test shows little", gapped, seeds)
	}
}

// slowFile is a log's file that is slow, now and then.
type slowFile struct {
	bytes.Buffer
	dice *rand.Rand
}

func (l *slowFile) Write(b []byte) (int, error) {
	switch l.dice.IntN(6) {
	case 0:
		virtual.Sleep(time.Duration(l.dice.IntN(3000)) * time.Millisecond)
	case 1:
		virtual.Sleep(time.Duration(l.dice.IntN(30)) * time.Millisecond)
	}
	return l.Buffer.Write(b)
}

// A record that is larger than the buffer goes to the writer directly.
func TestALogThatTakesNothingOfALargeRecord(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		log := &failingFile{left: 1000, then: func([]byte) (int, error) { return 0, nil }}
		r, err := recorderTo(log, journal.New(zerolog.Nop(), ""), recordRoom)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range []string{"/small", strings.Repeat("x", 1<<20)} {
			r.record([]events.Record{{Seq: uint64(i + 1), Event: events.Event{Kind: events.CommandStart, Path: path}}})
			synctest.Wait()
		}
		<-r.close()
		if state := r.state(); !errors.Is(state.Err, io.ErrShortWrite) || state.Records != 1 || state.Dropped != 1 {
			t.Errorf("%+v", state)
		}
	})
}

// A step that is larger than all the room is written when nothing else waits.
func TestAStepLargerThanTheRoomIsRecorded(t *testing.T) {
	var log bytes.Buffer
	r, err := recorderTo(&log, journal.New(zerolog.Nop(), ""), 1000)
	if err != nil {
		t.Fatal(err)
	}
	r.record([]events.Record{{Seq: 1, Event: events.Event{Kind: events.CommandStart, Children: make([]string, 1000)}}})
	<-r.close()
	if records, gaps, _ := accounted(t, log.Bytes()); len(records) != 1 || len(gaps) != 0 {
		t.Errorf("%d records, the gaps %v", len(records), gaps)
	}
}

// The bound of the queue counts the paths of a transaction.
func TestTheSizeOfAStepCountsPaths(t *testing.T) {
	long := events.Record{Event: events.Event{Ops: []events.Op{{Verb: "check", Path: "/" + strings.Repeat("x", 9000)}}}}
	if size := sizeOf([]events.Record{long}); size < 9000 {
		t.Errorf("a step with a path of 9,001 bytes counts as %d", size)
	}
}

// A record that is too long for a reader becomes a gap, with its step.
func TestARecordLongerThanALine(t *testing.T) {
	var log bytes.Buffer
	logged := &lines{}
	r, err := recorderTo(&log, journal.New(zerolog.New(logged), ""), recordRoom)
	if err != nil {
		t.Fatal(err)
	}
	record := func(seq uint64, path string) events.Record {
		return events.Record{Seq: seq, Event: events.Event{Kind: events.CommandStart, Path: path}}
	}
	r.record([]events.Record{record(1, "/")})
	r.record([]events.Record{record(2, "/"), record(3, strings.Repeat("\x01", events.MaxLine/6)), record(4, "/")})
	r.record([]events.Record{record(5, strings.Repeat("x", events.MaxLine/2))})
	<-r.close()
	records, gaps, last := accounted(t, log.Bytes())
	state := r.state()
	if len(records) != 2 || len(gaps) != 1 || gaps[0].From != 2 || gaps[0].To != 4 || last != 5 || state.Records != 2 || state.Dropped != 3 || state.Gaps != 1 {
		t.Errorf("the records %v, the gaps %v; %+v", records, gaps, state)
	}
	if len(gaps) == 1 && !strings.HasPrefix(gaps[0].Why, "the record 3 has ") {
		t.Errorf("the gap says %q", gaps[0].Why)
	}
}

func TestRecordingOfNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(nil, io.Discard, recordRoom)
		if got := n.Recording(); got != (Recording{}) {
			t.Errorf("%+v", got)
		}
	})
}
