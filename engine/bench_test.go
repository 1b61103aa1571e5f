package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// term is a conversation that comes back to where it began: the representative
// one for measurements. A latch that leads hears of its resignation, queues
// again behind nobody and leads, and the heartbeat is answered.
type term struct {
	*engine.Engine
	now     int64
	command uint64
	zxid    int64
	own     string
	owed    map[events.Kind]uint64
	beat    uint64
	note    func([]events.Record)
}

const owner = 0x100

func newTerm(record bool, note func([]events.Record)) *term {
	t := &term{Engine: engine.New(record, machines.Recipes()...), now: int64(time.Second),
		owed: map[events.Kind]uint64{}, note: note}
	t.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "session", Seed: "s"})
	t.feed("latch", events.Event{Kind: events.CommandOpen, Recipe: "latch", Seed: "l", Path: "/l", Data: []byte("me")})
	t.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
	t.feed(events.SessionMachine,
		events.Event{Kind: events.ConnectionAttached, Session: 1, SessionID: owner, Timeout: int64(15 * time.Second)})
	t.feed("latch", events.Event{Kind: events.CommandStart, Request: 2})
	t.takeOffice()
	return t
}

func (t *term) feed(to events.ID, ev events.Event) {
	t.now += 1000
	ev.At, ev.SentAt = t.now, t.now
	for _, a := range t.Step(events.Envelope{To: to, Event: ev}) {
		switch e := a.Effect.(type) {
		case events.Create:
			t.owed[events.ReplyCreate], t.own = e.Request, e.Path+"0000000001"
		case events.Get:
			t.owed[events.ReplyStat] = e.Request
		case events.Children:
			t.owed[events.ReplyChildren] = e.Request
		case events.Delete:
			t.owed[events.ReplyDelete] = e.Request
		case events.Multi:
			t.beat = e.Request
		}
	}
	if t.note != nil {
		t.note(t.Records())
	}
}

func (t *term) reply(kind events.Kind, ev events.Event) {
	ev.Kind, ev.Session, ev.Request = kind, 1, t.owed[kind]
	t.feed("latch", ev)
}

func (t *term) takeOffice() {
	t.zxid++
	t.reply(events.ReplyCreate, events.Event{Path: t.own, Zxid: t.zxid})
	t.reply(events.ReplyStat, events.Event{Path: t.own, Stat: &events.Stat{Czxid: t.zxid, EphemeralOwner: owner}})
	t.reply(events.ReplyChildren, events.Event{Path: "/l", Children: []string{t.own[len("/l/"):]}})
	if t.beat != 0 {
		t.feed(events.SessionMachine, events.Event{Kind: events.ReplyMulti, Session: 1, Request: t.beat})
		t.beat = 0
	}
}

// round resigns and leads again.
func (t *term) round() {
	t.command++
	t.feed("latch", events.Event{Kind: events.CommandResign, Request: 100 + t.command})
	t.reply(events.ReplyDelete, events.Event{Path: t.own})
	t.takeOffice()
}

func mustLead(tb testing.TB, t *term) {
	tb.Helper()
	if t.State("latch") != "leading" {
		tb.Fatalf("the latch is %s, not leading", t.State("latch"))
	}
}

// eventsOfRound counts the events that machines deal with in one round: those
// from outside and those that they tell each other.
func eventsOfRound() int {
	n := 0
	c := newTerm(true, func(r []events.Record) { n += len(r) })
	n = 0
	c.round()
	return n
}

func allocations(t *testing.T, record bool) float64 {
	c := newTerm(record, nil)
	mustLead(t, c)
	defer mustLead(t, c)
	return testing.AllocsPerRun(200, c.round) / float64(eventsOfRound())
}

// What is not allocated need not be collected: a loop with ten thousand machines
// lives next to somebody's program. Looplab allocates only when an arrow is taken for the first time.
func TestAllocationsPerEvent(t *testing.T) {
	const limit = 4
	got := allocations(t, false)
	t.Logf("allocations per event: %.1f, with recording %.1f; a round has %d events", got, allocations(t, true),
		eventsOfRound())
	if got > limit {
		t.Errorf("%.1f allocations per event, at most %d", got, limit)
	}
}

func benchmarkStep(b *testing.B, record bool) {
	c := newTerm(record, nil)
	mustLead(b, c)
	b.ReportAllocs()
	for b.Loop() {
		c.round()
	}
	n := float64(b.N * eventsOfRound())
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n, "ns/event")
	mustLead(b, c)
}

func BenchmarkStep(b *testing.B)          { benchmarkStep(b, false) }
func BenchmarkStepRecording(b *testing.B) { benchmarkStep(b, true) }

// played is what so many rounds recorded.
func played(tb testing.TB, rounds int) []events.Record {
	var all []events.Record
	c := newTerm(true, func(records []events.Record) { all = append(all, records...) })
	for range rounds {
		c.round()
	}
	mustLead(tb, c)
	return all
}

func logOf(tb testing.TB, records []events.Record) []byte {
	var log bytes.Buffer
	w, err := events.NewWriter(&log, events.Header{})
	if err != nil {
		tb.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		tb.Fatal(err)
	}
	return log.Bytes()
}

// The measured conversation is one that replays.
func TestMeasuredConversationReplays(t *testing.T) {
	records := played(t, 20)
	sum, err := engine.Replay(bytes.NewReader(logOf(t, records)), 0, machines.Recipes()...)
	if err != nil || sum.Records != uint64(len(records)) {
		t.Errorf("%d of %d records, %v", sum.Records, len(records), err)
	}
}

// BenchmarkReplay replays from memory, BenchmarkReplayLog from JSON Lines, where
// half of the time goes into reading them.
func BenchmarkReplay(b *testing.B) {
	records := played(b, 2000)
	b.ReportAllocs()
	for b.Loop() {
		i := 0
		next := func() (events.Record, error) {
			if i == len(records) {
				return events.Record{}, io.EOF
			}
			i++
			return records[i-1], nil
		}
		if _, err := engine.ReplayRecords(next, 0, machines.Recipes()...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkReplayLog(b *testing.B) {
	records := played(b, 2000)
	log := logOf(b, records)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := engine.Replay(bytes.NewReader(log), 0, machines.Recipes()...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(records)*b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkMachines tells what ten thousand latches that wait cost in memory.
func BenchmarkMachines(b *testing.B) {
	const many = 10_000
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		c := newTerm(false, nil)
		for i := range many {
			id := events.ID(fmt.Sprint("latch-", i))
			c.feed(id, events.Event{Kind: events.CommandOpen, Recipe: "latch", Seed: string(id), Path: "/l"})
			c.feed(id, events.Event{Kind: events.CommandStart, Request: uint64(i)})
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(c)
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/many, "B/machine")
}
