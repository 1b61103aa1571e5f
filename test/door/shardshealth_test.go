package door_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// The shards of an unhealthy member go to others, and back when it is healthy again. Each end is counted.
func TestAnUnhealthyMemberGivesItsShardsAway(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		ill := &patient{}
		a := w.member("a", 0, incumbent.ShardsOptions{Healthy: ill.healthy, HealthInterval: time.Second,
			Settle: 2 * time.Second})
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
		a := w.member("a", time.Hour, incumbent.ShardsOptions{Healthy: ill.healthy, HealthInterval: time.Second,
			WorkGrace: 30 * time.Second})
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

// A deadline that ends Run while nothing can be owned is an error, which says why, as of a latch. A cancelled Run
// returns none. A retry policy that gives up ends nothing.
func TestTheEndOfAShardsRunSaysWhatFailed(t *testing.T) {
	shardBubble(t, 3, func(t *testing.T, w *shardWorld) {
		n := w.open()
		var served atomic.Bool
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if served.Load() {
				return v
			}
			if r.Op == zkmem.OpCreate || r.Op == zkmem.OpCreate2 || r.Op == zkmem.OpMulti {
				v.Action, v.Code = zkmem.Refuse, -127
			}
			return v
		})
		policy := incumbent.ShardsOptions{}
		policy.Retry = incumbent.RetryNTimes(2, time.Second)
		group := must(n.Shards(shardsPath, 3, policy))
		run := func(ctx context.Context) error {
			return group.Run(ctx, func(s *incumbent.Shard) error { <-s.Context().Done(); return nil })
		}
		late, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := run(late); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "THROTTLED") {
			t.Errorf("a deadline: %v", err)
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		fine(t, run(ctx))
		again, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- run(again) }()
		pass(time.Minute) // the policy gives up
		served.Store(true)
		pass(2 * time.Minute)
		if n := len(group.Owned()); n != 3 {
			t.Errorf("it owns %d when it is served again, %s: %v", n, group.Phase(), group.Err())
		}
		stop()
		fine(t, <-ended)
		well, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := run(well); !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "THROTTLED") {
			t.Errorf("a deadline of one that owned shards: %v", err)
		}
	})
}
