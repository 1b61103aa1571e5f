package flightlog

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
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

// A dump says why it is written: in a length that a header can have, and never as if it were the end of a log.
func TestWhyADumpIsWritten(t *testing.T) {
	long := strings.Repeat("ä", 600)
	for why, want := range map[string]string{
		"": "asked for", "why": "why", events.EndClosed: "asked for: " + events.EndClosed,
		events.EndRotated: "asked for: " + events.EndRotated, long[:1000]: long[:1000], long: long[:1000] + "…",
		"x" + long: "x" + long[:998] + "…",
	} {
		if got := reasonOf(why); got != want {
			t.Errorf("%.20q: %q, want %q", why, got, want)
		}
	}
}

// ring is the last records of a client, which are written into a directory.
func ring(t *testing.T, dir string, least int, checkpoint func(func(uint64),
	func(engine.Checkpoint)) bool) (*Ring, *lines, error) {
	t.Helper()
	logged := &lines{}
	h := events.Header{Start: time.Now().UTC().Format(time.RFC3339Nano), Host: "host", PID: 7,
		Run: strings.Repeat("a", 32)}
	r, err := NewRing(dir, DirOptions{Ring: least, Keep: -1, Sync: SyncAlways}, RingUse{Header: h,
		Log: journal.New(zerolog.New(logged), ""), Granted: func() time.Duration { return 0 }, Checkpoint: checkpoint})
	return r, logged, err
}

// What cannot be a directory is an error. A directory that fails later is said each time, and is no error before.
func TestARingAndItsDirectory(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "log")
		whole(t, os.WriteFile(dir, nil, 0o600))
		if r, _, err := ring(t, dir, 10, nil); r != nil || err == nil || !strings.Contains(err.Error(),
			"is no directory") {
			t.Fatalf("%v, %v", r, err)
		}
		whole(t, os.Remove(dir))
		r, logged, err := ring(t, dir, 10, nil)
		whole(t, err)
		lost := notice(1, events.Stopped, events.ReasonLapsed)
		for round, c := range []struct {
			fails   bool
			said    string
			written int
		}{{false, `"level":"warn"`, 1}, {true, `"level":"error"`, 1}, {false, `"level":"warn"`, 2}} {
			if c.fails {
				whole(t, os.Rename(dir, dir+".old"))
				whole(t, os.WriteFile(dir, nil, 0o600))
			}
			r.Record(notice(uint64(2*round+1), events.Stopped, events.ReasonClosed))
			synctest.Wait()
			if len(logged.all) != round {
				t.Errorf("round %d: its own end is said: %q", round, logged.all)
			}
			lost[0].Seq = uint64(2*round + 2)
			r.Record(lost)
			elapse(time.Millisecond)
			if len(logged.all) != round+1 || !strings.Contains(logged.all[round], c.said) ||
				!strings.Contains(logged.all[round], `"why":"leadership of /a was lost: the deadline passed`) ||
				(r.Failure() != nil) != c.fails {
				t.Fatalf("round %d: %v, %q", round, r.Failure(), logged.all)
			}
			if c.fails {
				whole(t, os.Remove(dir))
				whole(t, os.Rename(dir+".old", dir))
			}
			if n := len(logread.Runs(t, dir)); n != c.written {
				t.Errorf("round %d: there are %d dumps, want %d", round, n, c.written)
			}
		}
		r.Close()
		<-r.Done
	})
}

// The oldest records are forgotten; a dump begins with the state before those that are left.
func TestARingBeginsWithAState(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		e := engine.New(true, machines.Recipes()...)
		e.Step(events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.CommandOpen,
			Recipe: "session"}})
		var r *Ring
		var err error
		seq := uint64(0)
		r, _, err = ring(t, t.TempDir(), 3, func(begin func(uint64), take func(engine.Checkpoint)) bool {
			begin(seq)
			take(e.Checkpoint())
			return true
		})
		whole(t, err)
		for _, want := range []struct{ before, records uint64 }{
			{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {3, 3}, {3, 4}, {3, 5}, {6, 3}, {6, 4},
		} {
			seq++
			r.Record(step(seq, 1))
			var dump bytes.Buffer
			whole(t, r.Dump(&dump, "a test", math.MaxInt64))
			records, states := strings.Count(dump.String(), "\n{\"seq\":"), strings.Count(dump.String(), `"state":{`)
			if r.parts[0].before != want.before || records != int(want.records) || (states == 1) != (want.before > 0) ||
				want.before > 0 && r.parts[0].state.Seq() != 1 {
				t.Errorf("after %d: %d records and %d states, from %d on; want %+v:\n%s", seq, records, states,
					r.parts[0].before, want, &dump)
			}
		}
		r.Close()
		<-r.Done
	})
}
