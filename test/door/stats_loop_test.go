package door_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/optimizations"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// What comes while the loop hangs for a second in a notice waits for up to a second, and nothing else waits.
func TestStatsHaveTheLagOfTheLoop(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		pass(time.Hour)
		before := n.Stats().LoopLag
		if slow := before.Counts[len(before.Counts)-1] + before.Counts[len(before.Counts)-2]; slow != 0 ||
			before.Count() < 900 || before.Sum != 0 {
			t.Fatalf("an hour in which nothing hangs: %v", before)
		}
		free := n.stopLoop()
		n.cutAsync()
		synctest.Wait()
		pass(time.Second)
		free()
		pass(time.Minute)
		if lag := n.Stats().LoopLag; lag.Counts[7]-before.Counts[7] != 1 || lag.Sum < .5 || lag.Sum > 1 {
			t.Errorf("a second in which the loop hangs: %v", lag)
		}
	})
}

// A client that neither leads nor is next has no belief, so its heartbeats have no margin: they would look like the
// lowest there is.
func TestOneThatOnlyWaitsHasNoMargin(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		nodes := []*node{w.start(), w.start(), w.start()}
		pass(time.Hour)
		for i, n := range nodes {
			s := n.Stats()
			low := s.Margin.Counts[0] + s.Margin.Counts[1] + s.Margin.Counts[2]
			if low != 0 || (i < 2) != (s.Margin.Count() > 900) ||
				i == 2 && !optimizations.Off(optimizations.IdleSyncs) && syncs(s) < 50 {
				t.Errorf("number %d has the margins %v of %v heartbeats", i, s.Margin.Counts, s.Heartbeats)
			}
		}
	})
}

// Requests that a silent server does not answer are pending in their lane, and the rest of them waits.
func TestStatsHaveTheLanes(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n := w.start()
		want := []incumbent.LaneStats{{Lane: "urgent"}, {Lane: "delete"}, {Lane: "normal"}}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Fatalf("nothing is asked for: %v", got)
		}
		w.srv.Freeze(zkmem.Outbound)
		for range 70 {
			n.Exists("/line").Background(context.Background(), func(incumbent.Result) {})
		}
		synctest.Wait()
		want[2] = incumbent.LaneStats{Lane: "normal", Waiting: 6, Pending: 64}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Errorf("70 reads: %v, want %v", got, want)
		}
		w.srv.Heal()
		pass(time.Minute)
		want[2] = incumbent.LaneStats{Lane: "normal"}
		if got := n.Stats().Lanes; !slices.Equal(got, want) {
			t.Errorf("after the answers: %v", got)
		}
	})
}

// The listing of the locks of other consumers is none of the queue: it changes neither its items nor the age of the
// oldest.
func TestStatsOfAQueueWithLocks(t *testing.T) {
	bubble(t, zkmem.Options{}, func(t *testing.T, w *world) {
		n, other := w.open(), w.open()
		q, err := incumbent.NewQueue(n.Client, "/q",
			incumbent.QueueOptions[string]{Codec: incumbent.Text(), LockPath: "/locks"})
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
		c, err := q.AtLeastOnce(func(context.Context,
			incumbent.Delivery[string]) error {
			return errors.New("not yet")
		}, incumbent.ConsumerOptions{Tries: -1})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		pass(10 * time.Minute)
		listings := requests(n.Stats(), "list").OK
		if s := n.Stats().Queues[0]; s.Items != 2 || s.Oldest < 9*time.Minute {
			t.Errorf("after %d listings: %+v", listings, s)
		}
		if listings < 5 {
			t.Errorf("%d listings: the locks were not listed", listings)
		}
	})
}

// syncs returns how many heartbeats were syncs.
func syncs(s incumbent.Stats) uint64 {
	i := slices.IndexFunc(s.Heartbeats, func(h incumbent.HeartbeatStats) bool { return h.Strength == "sync" })
	return s.Heartbeats[i].Took.Count()
}
