package meters

import (
	"slices"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// newMeters returns the meters of a client that nobody observes.
func newMeters() *Meters {
	m := &Meters{}
	m.Init(Use{
		Believable: func() time.Duration { return time.Second },
		Listed:     func(engine.Observed) {}, Vacated: func(engine.Observed) {}, Paused: func(time.Duration) {},
	})
	return m
}

// After MaxPaths, terms are counted under one path.
func TestPathsAreBounded(t *testing.T) {
	m := newMeters()
	for i := range MaxPaths + 5 {
		path := "/line" + string(rune('a'+i%26)) + string(rune(0x4e00+i))
		m.TermEnded("latch", path, "closed", 0)
	}
	s := m.Rare(0)
	if len(s.Terms) != MaxPaths+1 {
		t.Errorf("%d paths", len(s.Terms))
	}
	if i := slices.IndexFunc(s.Terms, func(one Term) bool { return one.Path == "other" }); i < 0 ||
		s.Terms[i].Count != 5 {
		t.Error("the rest is not counted under other")
	}
}

// A step allocates nothing more because it is counted.
func TestAStepIsCountedWithoutAllocation(t *testing.T) {
	m := newMeters()
	m.budget.Store(int64(time.Second))
	ev := &events.Event{Kind: events.ReplySync, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}
	step := engine.Observed{Machine: events.SessionMachine, Event: ev, Seq: 7}
	if n := testing.AllocsPerRun(100, func() { m.Stepped(step) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := m.Heartbeats[bySync].Read().Counts; slices.Max(n) != 101 {
		t.Error("the step was not counted")
	}
}

// No kind of event that the meters count allocates, and none of those that they do not.
func TestNoEventIsCountedWithAnAllocation(t *testing.T) {
	m := newMeters()
	m.budget.Store(int64(time.Second))
	for _, kind := range events.Kinds() {
		for _, machine := range []events.ID{events.SessionMachine, "latch-1",
			events.ID(machines.ConsumerRecipe.Name() + "-1")} {
			step := engine.Observed{Machine: machine,
				Event: &events.Event{Kind: kind, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}, Seq: 7}
			if n := testing.AllocsPerRun(50, func() { m.Stepped(step) }); n != 0 {
				t.Errorf("%s of %s: %v allocations", kind, machine, n)
			}
		}
	}
	if m.Lag.NoteTime(time.Millisecond); testing.AllocsPerRun(50,
		func() { m.Lag.NoteTime(time.Second) }) != 0 {
		t.Error("the loop's lag is counted with an allocation")
	}
}

// rounds is a latch that resigns and leads again, with a heartbeat in each round, and nothing but an engine below it.
type rounds struct {
	*engine.Engine
	now, n int64
	own    string
	asked  map[events.Kind]uint64 // the number of the last request of each kind
}

func newRounds(observed bool) *rounds {
	r := &rounds{Engine: engine.New(false, machines.Recipes()...), now: int64(time.Second),
		asked: map[events.Kind]uint64{}}
	if observed {
		m := newMeters()
		m.budget.Store(int64(7500 * time.Millisecond))
		r.Observe(m.Stepped)
	}
	r.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "session", Seed: "s"})
	r.feed("latch-1", events.Event{Kind: events.CommandOpen, Recipe: "latch", Seed: "l", Path: "/l",
		Data: []byte("me")})
	r.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
	r.feed(events.SessionMachine,
		events.Event{Kind: events.ConnectionAttached, Session: 1, SessionID: 7, Timeout: int64(15 * time.Second)})
	r.feed("latch-1", events.Event{Kind: events.CommandStart, Request: 2})
	r.lead()
	return r
}

func (r *rounds) feed(to events.ID, ev events.Event) {
	r.now += 1000
	ev.At, ev.SentAt = r.now, r.now-500
	for _, a := range r.Step(events.Envelope{To: to, Event: ev}) {
		switch e := a.Effect.(type) {
		case events.Create:
			r.asked[events.ReplyCreate], r.own = e.Request, e.Path+"0000000001"
		case events.Get:
			r.asked[events.ReplyStat] = e.Request
		case events.Children:
			r.asked[events.ReplyChildren] = e.Request
		case events.Delete:
			r.asked[events.ReplyDelete] = e.Request
		case events.Multi:
			r.asked[events.ReplyMulti] = e.Request
		}
	}
}

func (r *rounds) answer(to events.ID, ev events.Event) {
	ev.Session, ev.Request = 1, r.asked[ev.Kind]
	r.feed(to, ev)
}

func (r *rounds) lead() {
	r.n++
	r.answer("latch-1", events.Event{Kind: events.ReplyCreate, Path: r.own, Zxid: r.n})
	r.answer("latch-1", events.Event{Kind: events.ReplyStat, Path: r.own,
		Stat: &events.Stat{Czxid: r.n, EphemeralOwner: 7}})
	r.answer("latch-1", events.Event{Kind: events.ReplyChildren, Path: "/l", Children: []string{r.own[len("/l/"):]}})
	r.answer(events.SessionMachine, events.Event{Kind: events.ReplyMulti})
}

func (r *rounds) round() {
	r.feed("latch-1", events.Event{Kind: events.CommandResign, Request: uint64(100 + r.n)})
	r.answer("latch-1", events.Event{Kind: events.ReplyDelete, Path: r.own})
	r.lead()
}

// BenchmarkObserver is a round with and without the meters that Client.Stats reads, in turns of ten rounds each. It
// reports
// the medians, which a machine with other work hardly moves: docs/performance.md.
func BenchmarkObserver(b *testing.B) {
	turns := [2]*rounds{newRounds(false), newRounds(true)}
	var took [2][]float64
	b.ReportAllocs()
	for b.Loop() {
		for i, r := range turns {
			began := time.Now()
			for range 10 {
				r.round()
			}
			took[i] = append(took[i], float64(time.Since(began).Nanoseconds())/10)
		}
	}
	for i, r := range turns {
		if r.State("latch-1") != "leading" {
			b.Fatalf("the latch is %s", r.State("latch-1"))
		}
		slices.Sort(took[i])
	}
	without, with := took[0][len(took[0])/2], took[1][len(took[1])/2]
	b.ReportMetric(without, "ns-without")
	b.ReportMetric(with, "ns-with")
	b.ReportMetric(100*(with/without-1), "%-more")
}

// The meters add no allocation to a round. It compares sums of many rounds: some allocations are made once in several
// of them.
func TestARoundIsCountedWithoutAllocation(t *testing.T) {
	const rounds = 200
	allocations := func(observed bool) float64 {
		r := newRounds(observed)
		defer func() {
			if r.State("latch-1") != "leading" {
				t.Errorf("the latch is %s", r.State("latch-1"))
			}
		}()
		return testing.AllocsPerRun(1, func() {
			for range rounds {
				r.round()
			}
		})
	}
	without, with := allocations(false), allocations(true)
	for range 4 { // goroutines of other tests may allocate meanwhile, which only adds
		without, with = min(without, allocations(false)), min(with, allocations(true))
	}
	if with > without+rounds/2 || without < rounds {
		t.Errorf("%v allocations in %d rounds with the meters, %v without", with, rounds, without)
	}
}
