package door_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// observedBy collects what Config.Observe gets.
type observedBy struct {
	mu  sync.Mutex
	all []incumbent.Event
}

func (o *observedBy) take(e incumbent.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all = append(o.all, e)
}

// details returns the details of one type, in order, with their events.
func details[T incumbent.Detail](o *observedBy) (found []T, of []incumbent.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.all {
		if d, ok := e.Detail.(T); ok {
			found, of = append(found, d), append(of, e)
		}
	}
	return found, of
}

// requests returns what was counted of an operation.
func requests(s incumbent.Stats, operation string) incumbent.RequestStats {
	return s.Requests[slices.IndexFunc(s.Requests,
		func(r incumbent.RequestStats) bool { return r.Operation == operation })]
}

// An hour of leadership: a heartbeat each eighth or quarter of the timeout, each counted and observed.
func TestStatsCountAnHour(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		n := w.start(func(c *incumbent.Config) { c.Observe, c.Name = o.take, "one" })
		pass(time.Hour)
		s := n.Stats()
		confirmed, _ := details[incumbent.Confirmed](&o)
		var beats uint64
		for _, h := range s.Heartbeats {
			beats += h.Took.Count()
		}
		if beats < 900 || beats != uint64(len(confirmed)) || s.HeartbeatsFailed != 0 {
			t.Errorf("%d heartbeats, %d observed, %d failed", beats, len(confirmed), s.HeartbeatsFailed)
		}
		if low := s.Margin.Counts[0] + s.Margin.Counts[1] + s.Margin.Counts[2]; low != 0 || s.Margin.Count() < 900 {
			t.Errorf("margins %v", s.Margin.Counts)
		}
		if s.Budget != 7500*time.Millisecond || s.Granted != 15*time.Second || s.Connection != incumbent.Connected ||
			s.Attached != 1 || s.SessionID != n.SessionID() {
			t.Errorf("%+v", s)
		}
		h := s.Handles[0]
		if len(s.Handles) != 1 || !h.Leads || h.Path != "/line" || h.Recipe != "latch" || h.Token == 0 ||
			h.Phase != "leading" || h.ValidFor <= 0 || h.ValidFor > s.Budget {
			t.Errorf("%+v", h)
		}
		if !slices.Contains(s.Phases, incumbent.PhaseStats{Recipe: "latch", Phase: "leading", Count: 1}) {
			t.Errorf("%+v", s.Phases)
		}
		if create := requests(s, "create"); create.OK+create.Refused == 0 || requests(s, "list").OK == 0 {
			t.Errorf("%+v", s.Requests)
		}
	})
}

// The events of two terms have the steps of the log that they are from, and the reasons of their ends.
func TestEventsOfTerms(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		n := w.start(func(c *incumbent.Config) { c.Observe = o.take })
		held, err := n.latch.Await(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		n.cut()
		pass(time.Second)
		held.Release()
		pass(time.Minute)
		began, at := details[incumbent.TermBegan](&o)
		ended, endAt := details[incumbent.TermEnded](&o)
		if len(began) != 2 || len(ended) != 1 || ended[0].Lost.Reason != incumbent.ReasonSuspended ||
			ended[0].Place != began[0].Place {
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
		if work, _ := details[incumbent.WorkEnded](&o); len(work) != 1 || work[0].Late < time.Second ||
			work[0].Overran {
			t.Errorf("%+v", work)
		}
		changes, _ := details[incumbent.ConnectionChanged](&o)
		var states []incumbent.ConnectionState
		for _, c := range changes {
			states = append(states, c.To)
		}
		if !slices.Equal(states, []incumbent.ConnectionState{incumbent.Connected, incumbent.Suspended,
			incumbent.Reconnected}) || changes[1].Err == nil || changes[2].From != incumbent.Suspended {
			t.Errorf("%+v", changes)
		}
		s := n.Stats()
		if !slices.Equal(s.Terms,
			[]incumbent.TermStats{{Path: "/line", Recipe: "latch", Reason: incumbent.ReasonSuspended, Count: 1}}) ||
			s.Suspended != 1 || s.Attached != 2 {
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
		n := w.start(func(c *incumbent.Config) {
			c.Observe = func(e incumbent.Event) {
				<-release
				o.take(e)
			}
		})
		pass(time.Hour / 2)
		const many = 512 // each event of a group plans all of its shards, so several smaller groups take less
		for range 2 * machines.MaxShards / many {
			fine(t, ownAll(t, n, many))
		}
		s := n.Stats()
		if s.EventsDropped == 0 || !n.latch.HasLeadership() || s.Suspended != 0 {
			t.Fatalf("%d dropped, leads %t", s.EventsDropped, n.latch.HasLeadership())
		}
		close(release)
		pass(time.Minute)
		gaps, _ := details[incumbent.EventsDropped](&o)
		if len(gaps) != 1 || gaps[0].Count != s.EventsDropped {
			t.Errorf("%+v, and %d were dropped", gaps, s.EventsDropped)
		}
	})
}

// ownAll has a client own all shards of a group for a while. Each has three events: of its term, and of its work.
func ownAll(t *testing.T, n *node, shards int) error {
	group := must(n.Shards("/group", shards, incumbent.ShardsOptions{}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- group.Run(ctx, func(s *incumbent.Shard) error { <-s.Context().Done(); return nil })
	}()
	pass(time.Second)
	if n := len(group.Owned()); n != shards {
		t.Errorf("it owns %d shards", n)
	}
	cancel()
	return <-ended
}

// A takeover is counted from the deletion of the node ahead, and work that goes on after its term shows.
func TestStatsOfATakeover(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		first := w.start()
		second := w.start(func(c *incumbent.Config) { c.Observe = o.take })
		pass(time.Minute)
		queued, _ := details[incumbent.Queued](&o)
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
		began, _ := details[incumbent.TermBegan](&o)
		if len(began) != 1 || began[0].Takeover >= time.Second || began[0].Waited < time.Minute {
			t.Errorf("%+v", began)
		}
		if first.Stats().Handles[0].Draining != 0 {
			t.Error("the work has returned, and drains")
		}
	})
}

// The takeover of one node is counted from its deletion.
func TestStatsOfATakeoverOfOneNode(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		var o observedBy
		first := stands(t, w.open(), incumbent.NodeElectionOptions{})
		n := w.open(func(c *incumbent.Config) { c.Observe = o.take })
		second := stands(t, n, incumbent.NodeElectionOptions{})
		pass(time.Minute)
		fine(t, first.Close(t.Context()))
		pass(time.Minute)
		s := n.Stats()
		if len(s.Recipes) != 1 || s.Recipes[0].Recipe != "nodeelection" || s.Recipes[0].Takeover.Count() != 1 ||
			!second.HasLeadership() {
			t.Errorf("%+v %+v", s.Recipes, s.Handles)
		}
		began, _ := details[incumbent.TermBegan](&o)
		if len(began) != 1 || began[0].Waited < time.Minute {
			t.Errorf("%+v", began)
		}
	})
}

// A consumer's deliveries are counted by how they end, and an item that stays shows its age.
func TestStatsOfAQueue(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.open()
		q, err := incumbent.NewQueue(n.Client, "/q", incumbent.QueueOptions[string]{Codec: incumbent.Text()})
		if err != nil {
			t.Fatal(err)
		}
		var fail atomic.Bool
		fail.Store(true)
		c, err := q.AtLeastOnce(func(context.Context, incumbent.Delivery[string]) error {
			if fail.Load() {
				return errors.New("not yet")
			}
			return nil
		}, incumbent.ConsumerOptions{Tries: -1})
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

// Probe fails while the loop hangs in a step, and not before or afterwards.
func TestALoopThatHangsFailsTheProbe(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		if err := n.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		free := n.stopLoop()
		pass(time.Second)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, context.Canceled)
		defer cancel()
		if err := n.Probe(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Probe of a loop that hangs: %v", err)
		}
		free()
		if err := n.Probe(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
