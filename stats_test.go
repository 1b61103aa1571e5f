package incumbent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// observedBy collects what Config.Observe gets.
type observedBy struct {
	mu  sync.Mutex
	all []Event
}

func (o *observedBy) take(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, e)
}

// details returns the details of one type, in order, with their events.
func details[T Detail](o *observedBy) (found []T, of []Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.all {
		if d, ok := e.Detail.(T); ok {
			found, of = append(found, d), append(of, e)
		}
	}
	return found, of
}

// An hour of leadership: a heartbeat each eighth or quarter of the timeout, each counted and observed.
func TestStatsCountAnHour(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		n := w.start(func(c *Config) { c.Observe, c.Name = o.take, "one" })
		pass(time.Hour)
		s := n.Stats()
		confirmed, _ := details[Confirmed](&o)
		beats := s.Heartbeats[bySync].Took.Count() + s.Heartbeats[byCheck].Took.Count() + s.Heartbeats[byWrite].Took.Count()
		if beats < 900 || beats != uint64(len(confirmed)) || s.HeartbeatsFailed != 0 {
			t.Errorf("%d heartbeats, %d observed, %d failed", beats, len(confirmed), s.HeartbeatsFailed)
		}
		if low := s.Margin.Counts[0] + s.Margin.Counts[1] + s.Margin.Counts[2]; low != 0 || s.Margin.Count() < 900 {
			t.Errorf("margins %v", s.Margin.Counts)
		}
		if s.Budget != 7500*time.Millisecond || s.Granted != 15*time.Second || s.Connection != Connected || s.Attached != 1 || s.SessionID != n.SessionID() {
			t.Errorf("%+v", s)
		}
		h := s.Handles[0]
		if len(s.Handles) != 1 || !h.Leads || h.Path != "/line" || h.Recipe != "latch" || h.Token == 0 || h.Phase != "leading" || h.ValidFor <= 0 || h.ValidFor > s.Budget {
			t.Errorf("%+v", h)
		}
		if !slices.Contains(s.Phases, PhaseStats{"latch", "leading", 1}) {
			t.Errorf("%+v", s.Phases)
		}
		create := s.Requests[createOp]
		if create.Operation != "create" || create.OK+create.Refused == 0 || s.Requests[listOp].OK == 0 {
			t.Errorf("%+v", s.Requests)
		}
	})
}

// The events of two terms have the steps of the log that they are from, and the reasons of their ends.
func TestEventsOfTerms(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		n := w.start(func(c *Config) { c.Observe = o.take })
		held, err := n.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n.cut()
		pass(time.Second)
		held.Release()
		pass(time.Minute)
		began, at := details[TermBegan](&o)
		ended, endAt := details[TermEnded](&o)
		if len(began) != 2 || len(ended) != 1 || ended[0].Lost.Reason != ReasonSuspended || ended[0].Place != began[0].Place {
			t.Fatalf("%+v %+v", began, ended)
		}
		rows := map[uint64]events.Record{}
		for _, r := range n.tape.Records() {
			rows[r.Seq] = r
		}
		for i, e := range at {
			if r := rows[e.Seq]; r.Machine != "latch-1" || r.To != "leading" || r.Cause != e.Cause {
				t.Errorf("term %d began in step %d: %+v", i, e.Seq, r)
			}
		}
		if r := rows[endAt[0].Seq]; r.Machine != "latch-1" || r.From != "leading" {
			t.Errorf("the term ended in step %d: %+v", endAt[0].Seq, r)
		}
		if work, _ := details[WorkEnded](&o); len(work) != 1 || work[0].Late < time.Second || work[0].Overran {
			t.Errorf("%+v", work)
		}
		changes, _ := details[ConnectionChanged](&o)
		var states []ConnectionState
		for _, c := range changes {
			states = append(states, c.To)
		}
		if !slices.Equal(states, []ConnectionState{Connected, Suspended, Reconnected}) || changes[1].Err == nil || changes[2].From != Suspended {
			t.Errorf("%+v", changes)
		}
		s := n.Stats()
		if !slices.Equal(s.Terms, []TermStats{{"/line", "latch", ReasonSuspended, 1}}) || s.Suspended != 1 || s.Attached != 2 {
			t.Errorf("%+v", s.Terms)
		}
		if len(s.Recipes) != 1 || s.Recipes[0].Led.Count() != 1 {
			t.Errorf("%+v", s.Recipes)
		}
	})
}

// A client whose Observe hangs goes on: its heartbeats keep their rhythm, and what has no room is counted.
func TestAnObserverThatHangs(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		release := make(chan struct{})
		n := w.start(func(c *Config) {
			c.Observe = func(e Event) {
				<-release
				o.take(e)
			}
		})
		pass(3 * time.Hour)
		s := n.Stats()
		if s.EventsDropped == 0 || !n.latch.HasLeadership() || s.Suspended != 0 {
			t.Fatalf("%d dropped, leads %t", s.EventsDropped, n.latch.HasLeadership())
		}
		close(release)
		pass(time.Minute)
		gaps, _ := details[EventsDropped](&o)
		if len(gaps) != 1 || gaps[0].Count != s.EventsDropped {
			t.Errorf("%+v, and %d were dropped", gaps, s.EventsDropped)
		}
	})
}

// A takeover is counted from the deletion of the node ahead, and work that goes on after its term shows.
func TestStatsOfATakeover(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		first := w.start()
		second := w.start(func(c *Config) { c.Observe = o.take })
		pass(time.Minute)
		queued, _ := details[Queued](&o)
		if len(queued) != 1 || queued[0].Ahead != 1 || queued[0].Behind != first.ownPath() {
			t.Fatalf("%+v", queued)
		}
		held, err := first.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first.cut()
		pass(10 * time.Second)
		if h := first.Stats().Handles[0]; h.Draining < 9*time.Second || h.Leads {
			t.Errorf("%+v", h)
		}
		held.Release()
		pass(time.Second)
		if err := first.latch.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		s := second.Stats()
		if len(s.Recipes) != 1 || s.Recipes[0].Takeover.Count() != 1 || !s.Handles[0].Leads {
			t.Errorf("%+v %+v", s.Recipes, s.Handles)
		}
		began, _ := details[TermBegan](&o)
		if len(began) != 1 || began[0].Takeover >= time.Second || began[0].Waited < time.Minute {
			t.Errorf("%+v", began)
		}
		if first.Stats().Handles[0].Draining != 0 {
			t.Error("the work has returned, and drains")
		}
	})
}

// A consumer's deliveries are counted by how they end, and an item that stays shows its age.
func TestStatsOfAQueue(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := NewQueue(n.Client, "/q", QueueOptions[string]{Codec: Text()})
		if err != nil {
			t.Fatal(err)
		}
		var fail atomic.Bool
		fail.Store(true)
		c, err := q.AtLeastOnce(func(context.Context, Delivery[string]) error {
			if fail.Load() {
				return errors.New("not yet")
			}
			return nil
		}, ConsumerOptions{Tries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Start(), q.Put(t.Context(), "one")); err != nil {
			t.Fatal(err)
		}
		pass(time.Minute)
		s := n.Stats().Queues[0]
		if s.Path != "/q" || s.Items != 1 || s.Failed == 0 || s.Done != 0 || s.Oldest < 50*time.Second {
			t.Errorf("%+v", s)
		}
		fail.Store(false)
		pass(5 * time.Minute)
		if s = n.Stats().Queues[0]; s.Items != 0 || s.Done != 1 || s.Oldest != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// After maxStatPaths, terms are counted under one path.
func TestPathsAreBounded(t *testing.T) {
	var m meters
	m.init(&Client{})
	for i := range maxStatPaths + 5 {
		p := &participant{}
		p.id, p.path, p.what = "latch-1", "/line"+string(rune('a'+i%26))+string(rune(0x4e00+i)), whatLeadership
		m.termEnded(p, &LostError{Reason: ReasonClosed})
	}
	var s Stats
	m.readRare(&s)
	if len(s.Terms) != maxStatPaths+1 {
		t.Errorf("%d paths", len(s.Terms))
	}
	if i := slices.IndexFunc(s.Terms, func(one TermStats) bool { return one.Path == "other" }); i < 0 || s.Terms[i].Count != 5 {
		t.Error("the rest is not counted under other")
	}
}

// hangingReceiver keeps the loop waiting in each notice.
type hangingReceiver struct {
	receiver
	until chan struct{}
}

func (h hangingReceiver) notice(n events.Notify) {
	<-h.until
	h.receiver.notice(n)
}

// Probe fails while the loop hangs in a step, and not before or afterwards.
func TestALoopThatHangsFailsTheProbe(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		if err := n.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		n.Client.mu.Lock()
		hangs := hangingReceiver{n.Client.handles["latch-1"], make(chan struct{})}
		n.Client.handles["latch-1"] = hangs
		n.Client.mu.Unlock()
		n.cutAsync()
		pass(time.Second)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, context.Canceled)
		defer cancel()
		if err := n.Probe(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Probe of a loop that hangs: %v", err)
		}
		close(hangs.until)
		if err := n.Probe(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A step allocates nothing more because it is counted.
func TestAStepIsCountedWithoutAllocation(t *testing.T) {
	c := &Client{handles: map[events.ID]receiver{}}
	c.observed.client = c
	c.meters.init(c)
	c.meters.budget.Store(int64(time.Second))
	ev := &events.Event{Kind: events.ReplySync, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}
	step := engine.Observed{Machine: events.SessionMachine, Event: ev, Seq: 7}
	if n := testing.AllocsPerRun(100, func() { c.meters.stepped(step) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if c.meters.heartbeats[bySync].read().Count() != 101 {
		t.Error("the step was not counted")
	}
}
