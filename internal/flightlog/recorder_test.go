package flightlog

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/journal"
	"github.com/incumbent-go/incumbent/test/kit/logread"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

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

// TestEveryRecordIsInTheLogOrInOneGap: whenever the writer blocks, and for how long, a log
// can be read, and every record is written, or in exactly one gap, with its whole step.
func TestEveryRecordIsInTheLogOrInOneGap(t *testing.T) {
	gapped, seeds := 0, selection.Of(t, "writers", 6, 20, 40)
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
					records = append(records,
						events.Record{Seq: seq, Machine: "m",
							Event: events.Event{Kind: events.CommandStart, Path: strings.Repeat("x", dice.IntN(2000))},
							Row:   "r"})
				}
				for _, record := range records {
					step[record.Seq] = seq
				}
				r.Record(records)
				clear(records) // the engine uses them again
				if dice.IntN(3) == 0 {
					virtual.Sleep(time.Duration(dice.IntN(200)) * time.Millisecond)
				}
				if r.mu.Lock(); r.waiting > room {
					t.Fatalf("%d bytes wait, where there is room for %d", r.waiting, room)
				}
				r.mu.Unlock()
			}
			<-r.Close()
			records, gaps, last := logread.Whole(t, log.Bytes())
			var missing uint64
			for _, gap := range gaps {
				missing += gap.Count
				if step[gap.To] != gap.To || gap.From > 1 && step[gap.From-1] != gap.From-1 {
					t.Fatalf("seed %d: the gap %v cuts a step", seed, gap)
				}
			}
			state := r.State()
			if last != seq || state.Records != uint64(len(records)) || state.Dropped != missing ||
				state.Gaps != uint64(len(gaps)) || state.Bytes != uint64(log.Len()) {
				t.Fatalf("seed %d: %d records up to %d of %d, the gaps %v; %+v", seed, len(records), last,
					seq, gaps, state)
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

// shortFile takes so many bytes, and then none, without an error.
type shortFile struct{ left int }

func (s *shortFile) Write(b []byte) (int, error) {
	if s.left -= len(b); s.left < 0 {
		return 0, nil
	}
	return len(b), nil
}

// A record that is larger than the buffer goes to the writer directly.
func TestALogThatTakesNothingOfALargeRecord(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		log := &shortFile{left: 1000}
		r, err := recorderTo(log, journal.New(zerolog.Nop(), ""), Room)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range []string{"/small", strings.Repeat("x", 1<<20)} {
			r.Record([]events.Record{{Seq: uint64(i + 1), Event: events.Event{Kind: events.CommandStart, Path: path}}})
			synctest.Wait()
		}
		<-r.Close()
		if state := r.State(); !errors.Is(state.Err, io.ErrShortWrite) || state.Records != 1 || state.Dropped != 1 {
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
	r.Record([]events.Record{{Seq: 1, Event: events.Event{Kind: events.CommandStart, Children: make([]string, 1000)}}})
	<-r.Close()
	if records, gaps, _ := logread.Whole(t, log.Bytes()); len(records) != 1 || len(gaps) != 0 {
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
	r, err := recorderTo(&log, journal.New(zerolog.New(logged), ""), Room)
	if err != nil {
		t.Fatal(err)
	}
	record := func(seq uint64, path string) events.Record {
		return events.Record{Seq: seq, Event: events.Event{Kind: events.CommandStart, Path: path}}
	}
	r.Record([]events.Record{record(1, "/")})
	r.Record([]events.Record{record(2, "/"), record(3, strings.Repeat("\x01", events.MaxLine/6)), record(4, "/")})
	r.Record([]events.Record{record(5, strings.Repeat("x", events.MaxLine/2))})
	<-r.Close()
	records, gaps, last := logread.Whole(t, log.Bytes())
	state := r.State()
	if len(records) != 2 || len(gaps) != 1 || gaps[0].From != 2 || gaps[0].To != 4 || last != 5 || state.Records != 2 ||
		state.Dropped != 3 || state.Gaps != 1 {
		t.Errorf("the records %v, the gaps %v; %+v", records, gaps, state)
	}
	if len(gaps) == 1 && !strings.HasPrefix(gaps[0].Why, "the record 3 has ") {
		t.Errorf("the gap says %q", gaps[0].Why)
	}
}
