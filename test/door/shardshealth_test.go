package door_test

import (
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
)

// The shards of an unhealthy member go to others, and back when it is healthy again. Each end is counted.
func TestAnUnhealthyMemberGivesItsShardsAway(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		ill := &patient{}
		a := w.member("a", 0, incumbent.ShardsOptions{LatchOptions: ill.options(), Settle: 2 * time.Second})
		b := w.member("b", 0, incumbent.ShardsOptions{Settle: 2 * time.Second})
		pass(20 * time.Second)
		w.mustOwn("both are healthy", []int{3, 1}, "a", "b")
		ill.sick.Store(true)
		pass(20 * time.Second)
		w.mustOwn("a is unhealthy", []int{0, 4}, "a", "b")
		ended := uint64(0)
		for _, one := range a.Stats().Terms {
			if one.Path == shardsPath && one.Recipe == "shards" && one.Reason == incumbent.ReasonMoved {
				ended += one.Count
			}
		}
		if ended != 4 {
			t.Errorf("%d terms of a were counted, want 4: 1 when b came, and 3 when a was ill: %+v", ended,
				a.Stats().Terms)
		}
		ill.sick.Store(false)
		pass(30 * time.Second)
		w.mustOwn("a is healthy again", []int{1, 3}, "a", "b")
		a.end(t)
		b.end(t)
	})
}

// Work that goes on after its shard has to move keeps the shard for WorkGrace, and no longer.
func TestTheGraceOfWorkOnAShard(t *testing.T) {
	shardBubble(t, 1, func(t *testing.T, w *shardWorld) {
		ill := &patient{}
		options := ill.options()
		options.WorkGrace = 30 * time.Second
		a := w.member("a", time.Hour, incumbent.ShardsOptions{LatchOptions: options})
		b := w.member("b", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		w.mustOwn("a is first", []int{1, 0}, "a", "b")
		ill.sick.Store(true)
		pass(20 * time.Second)
		w.mustOwn("a's work goes on", []int{0, 0}, "a", "b")
		pass(30 * time.Second)
		w.mustOwn("the grace is over", []int{0, 1}, "a", "b")
		a.cancel()
		b.end(t)
		pass(time.Hour)
		fine(t, <-a.ended)
	})
}
