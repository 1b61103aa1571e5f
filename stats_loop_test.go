package incumbent

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What comes while the loop hangs for a second in a notice waits for up to a second, and nothing else waits.
func TestStatsHaveTheLagOfTheLoop(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		pass(time.Hour)
		before := n.Stats().LoopLag
		if slow := before.Counts[len(before.Counts)-1] + before.Counts[len(before.Counts)-2]; slow != 0 || before.Count() < 900 || before.Sum != 0 {
			t.Fatalf("an hour in which nothing hangs: %v", before)
		}
		n.Client.mu.Lock()
		hangs := hangingReceiver{n.Client.handles["latch-1"], make(chan struct{})}
		n.Client.handles["latch-1"] = hangs
		n.Client.mu.Unlock()
		n.cutAsync()
		synctest.Wait()
		pass(time.Second)
		close(hangs.until)
		pass(time.Minute)
		if lag := n.Stats().LoopLag; lag.Counts[7]-before.Counts[7] != 1 || lag.Sum < .5 || lag.Sum > 1 {
			t.Errorf("a second in which the loop hangs: %v", lag)
		}
	})
}

// A client that neither leads nor is next has no belief, so its heartbeats have no margin: they would look like the lowest there is.
func TestOneThatOnlyWaitsHasNoMargin(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		nodes := []*node{w.start(), w.start(), w.start()}
		pass(time.Hour)
		for i, n := range nodes {
			s := n.Stats()
			low := s.Margin.Counts[0] + s.Margin.Counts[1] + s.Margin.Counts[2]
			if low != 0 || (i < 2) != (s.Margin.Count() > 900) ||
				i == 2 && !optimizations.Off(optimizations.IdleSyncs) && s.Heartbeats[bySync].Took.Count() < 50 {
				t.Errorf("number %d has the margins %v of %v heartbeats", i, s.Margin.Counts, s.Heartbeats)
			}
		}
	})
}

// Requests that a silent server does not answer are pending in their lane, and the rest of them waits.
func TestStatsHaveTheLanes(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		want := []LaneStats{{"urgent", 0, 0}, {"delete", 0, 0}, {"normal", 0, 0}}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Fatalf("nothing is asked for: %v", got)
		}
		w.srv.Freeze(zkmem.Outbound)
		for range 70 {
			n.Exists("/line").Background(context.Background(), func(Result) {})
		}
		synctest.Wait()
		want[2] = LaneStats{"normal", 6, 64}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Errorf("70 reads: %v, want %v", got, want)
		}
		w.srv.Heal()
		pass(time.Minute)
		want[2] = LaneStats{"normal", 0, 0}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Errorf("after the answers: %v", got)
		}
	})
}

// The listing of the locks of other consumers is none of the queue: it changes neither its items nor the age of the oldest.
func TestStatsOfAQueueWithLocks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, other := w.open(), w.open()
		q, err := NewQueue(n.Client, "/q", QueueOptions[string]{Codec: Text(), LockPath: "/locks"})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Put(t.Context(), "one", "two", "three"); err != nil {
			t.Fatal(err)
		}
		names, err := n.Children("/q").Do(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name < "queue-" || name > "queue-~" })
		for _, locked := range names[:2] { // the first is done, and its lock not deleted yet
			if _, err := other.Create("/locks/"+locked, nil).Ephemeral().Parents().Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := other.Delete("/q/" + names[0]).Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		c, err := q.AtLeastOnce(func(context.Context, Delivery[string]) error { return errors.New("not yet") }, ConsumerOptions{Tries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		listings := n.Stats().Requests[listOp].OK
		if s := n.Stats().Queues[0]; s.Items != 2 || s.Oldest < 9*time.Minute {
			t.Errorf("after %d listings: %+v", listings, s)
		}
		if listings < 5 {
			t.Errorf("%d listings: the locks were not listed", listings)
		}
	})
}

// No kind of event that the meters count allocates, and none of those that they do not.
func TestNoEventIsCountedWithAnAllocation(t *testing.T) {
	c := &Client{handles: map[events.ID]receiver{}, config: &Config{}}
	c.observed.client = c
	c.meters.init(c)
	c.meters.budget.Store(int64(time.Second))
	for _, kind := range events.Kinds() {
		for _, machine := range []events.ID{events.SessionMachine, "latch-1", events.ID(machines.ConsumerRecipe.Name() + "-1")} {
			step := engine.Observed{Machine: machine, Event: &events.Event{Kind: kind, At: 5e8, SentAt: 4e8, ValidUntil: 9e8}, Seq: 7}
			if n := testing.AllocsPerRun(50, func() { c.meters.stepped(step) }); n != 0 {
				t.Errorf("%s of %s: %v allocations", kind, machine, n)
			}
		}
	}
	if c.meters.lag.noteTime(time.Millisecond); testing.AllocsPerRun(50, func() { c.meters.lag.noteTime(time.Second) }) != 0 {
		t.Error("the loop's lag is counted with an allocation")
	}
}
