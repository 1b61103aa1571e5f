package door_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/sources"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/logread"
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

// recorded opens a client with a latch in line, whose log is a test's own. It is closed
// when the test ends.
func (w *world) recorded(log *incumbent.FlightLog, logged io.Writer, room int) *node {
	w.t.Helper()
	n := &node{w: w}
	config := incumbent.Config{
		Servers: "192.0.2.1:2181", Record: log, Logger: zerolog.New(logged),
		Dial: func(context.Context, string, string) (net.Conn, error) { return w.dial(n) },
	}
	var err error
	from := w.sources(n)
	from.RecordRoom, from.RecordDelay = room, -1
	n.Client, err = incumbent.Open(sources.With(context.Background(), from), config)
	fine(w.t, err)
	n.latch, err = n.Latch("/line", incumbent.LatchOptions{})
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

// TestTheLoopNeverWaitsForTheLog: a leader's log blocks for ten minutes. Requests return
// immediately, belief is renewed, and then the log says what is missing.
func TestTheLoopNeverWaitsForTheLog(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		log, logged := &blockingFile{}, &lines{}
		n := w.recorded(incumbent.RecordTo(log), logged, 32<<10)
		work := n.leads()
		defer work.Release()
		synctest.Wait()
		before := n.Recording()
		if before.Records == 0 || before.Bytes != uint64(log.bytes.Len()) || before.Dropped+before.Gaps != 0 ||
			before.Err != nil {
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
		if during.Records > before.Records || during.Dropped < 100 || during.Gaps != 1 ||
			len(logged.with("records are dropped")) != 1 {
			t.Errorf("while it hangs: %+v, logged %q", during, logged.with("dropped"))
		}
		log.open()
		synctest.Wait()
		if _, err := n.Exists("/").Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		after := n.Recording()
		records, gaps, _ := logread.Whole(t, log.bytes.Bytes())
		if len(gaps) != 1 || gaps[0].Count != after.Dropped || uint64(len(records)) != after.Records ||
			after.Gaps != 1 || after.Bytes != uint64(log.bytes.Len()) {
			t.Fatalf("the log has %d records and the gaps %v; %+v", len(records), gaps, after)
		}
		if !strings.HasPrefix(gaps[0].Why, "Config.Record was too slow for 9m") &&
			!strings.HasPrefix(gaps[0].Why, "Config.Record was too slow for 10m") {
			t.Errorf("it hung for ten minutes: %q", gaps[0].Why)
		}
		if lines := logged.with("room again"); len(lines) != 1 ||
			!strings.Contains(lines[0], fmt.Sprintf(`"dropped":%d`, after.Dropped)) {
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
		"no return": {9000, func([]byte) (int, error) { runtime.Goexit(); return 0, nil },
			"Config.Record ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
				log, logged := &failingFile{left: c.left, then: c.then}, &lines{}
				n := w.recorded(incumbent.RecordTo(log), logged, 0)
				work := n.leads()
				pass(5 * time.Minute)
				first := n.Recording()
				if first.Err == nil || !strings.Contains(first.Err.Error(), c.says) ||
					len(logged.with("recording ended")) != 1 {
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
				if last.Records != first.Records || last.Dropped <= first.Dropped || last.Gaps != 0 ||
					last.Err != first.Err || len(logged.with("recording ended")) != 1 {
					t.Errorf("%+v, and later %+v", first, last)
				}
				if c.left == 0 {
					return
				}
				records, _, _ := logread.Whole(t, log.Bytes())
				if last.Records == 0 || uint64(len(records)) != last.Records || last.Bytes < uint64(log.Len()) {
					t.Errorf("%d records, %d bytes in the log; %+v", len(records), log.Len(), last)
				}
			})
		})
	}
}

func TestRecordingOfNothing(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.recorded(nil, io.Discard, 0)
		if got := n.Recording(); got != (incumbent.Recording{}) {
			t.Errorf("%+v", got)
		}
	})
}
