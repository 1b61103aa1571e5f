package door_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// slowMember is a member whose work on one shard returns long after it has to, and on the others in time.
type slowMember struct {
	*node
	group  *incumbent.Shards
	slow   atomic.Int64 // the shard; -1: none
	cancel context.CancelFunc
	ended  chan error
}

func (w *shardWorld) slowMember(options incumbent.ShardsOptions) *slowMember {
	w.t.Helper()
	m := &slowMember{node: w.open(), ended: make(chan error, 1)}
	m.slow.Store(-1)
	options.ID, options.Settle = "a", time.Second
	m.group = must(m.Shards(shardsPath, w.shards, options))
	ctx, cancel := context.WithCancel(w.t.Context())
	m.cancel = cancel
	go func() {
		m.ended <- m.group.Run(ctx, func(s *incumbent.Shard) error {
			w.enter("a", s)
			<-s.Context().Done()
			if int64(s.ID) == m.slow.Load() {
				virtual.Sleep(5 * time.Minute)
			}
			w.leave("a", s.ID)
			return nil
		})
	}()
	return m
}

// end ends the member. The work on the first of its shards goes on for 5 minutes.
func (m *slowMember) end() {
	m.slow.Store(int64(m.group.Owned()[0]))
	m.cancel()
}

// A member that ends gives each shard away when the work on that one has returned, also if it is the one that writes
// the assignment: another member is elected to at once. It gets no shards.
func TestAnEndingMemberGivesAwayWhatHasReturned(t *testing.T) {
	for _, writes := range []bool{false, true} {
		shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
			options := incumbent.ShardsOptions{Settle: time.Second}
			var b *shardMember
			if !writes {
				b = w.member("b", 0, options)
				pass(5 * time.Second)
			}
			a := w.slowMember(options)
			pass(5 * time.Second)
			if writes {
				b = w.member("b", 0, options)
				pass(5 * time.Second)
			}
			before := w.owned("b")[0]
			if before < 1 || before > 3 {
				t.Fatalf("b works on %d shards, want from 1 to 3", before)
			}
			a.end()
			pass(time.Second)
			w.mustOwn("the work on one shard has not returned", []int{1, 3}, "a", "b")
			pass(4 * time.Minute)
			w.mustOwn("4 minutes later", []int{1, 3}, "a", "b")
			pass(time.Minute)
			fine(t, <-a.ended)
			w.mustOwn("in the end", []int{0, 4}, "a", "b")
			b.end(t)
		})
	}
}

// Work that goes on after its member has ended keeps the shard for WorkGrace, and the member's other shards do not wait
// for that.
func TestAnEndingMemberKeepsAShardForItsGrace(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		w.excused = true // the work goes on after its grace
		a := w.slowMember(incumbent.ShardsOptions{WorkGrace: time.Minute})
		pass(5 * time.Second)
		b := w.member("b", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(5 * time.Second)
		a.end()
		pass(50 * time.Second)
		w.mustOwn("within the grace", []int{1, 3}, "a", "b")
		pass(11 * time.Second)
		w.mustOwn("after it", []int{0, 4}, "a", "b")
		pass(5 * time.Minute)
		fine(t, <-a.ended)
		b.end(t)
	})
}

// A member that ends goes on to release its shards after a disconnect, of whose last write the reply was lost or not,
// and after refusals. If they go on, it ends nevertheless.
func TestAnEndingMemberReleasesAgain(t *testing.T) {
	for name, c := range map[string]struct {
		verdict zkmem.Verdict
		times   int32
		within  []int // on how many shards a and b work soon after the end
	}{
		"the reply is lost":   {zkmem.Verdict{Action: zkmem.CutAfter}, 1, []int{1, 3}},
		"the request is lost": {zkmem.Verdict{Action: zkmem.CutBefore}, 1, []int{1, 3}},
		"several replies":     {zkmem.Verdict{Action: zkmem.CutAfter}, 4, []int{1, 3}},
		"refused":             {zkmem.Verdict{Action: zkmem.Refuse, Code: -127}, 3, []int{1, 3}},
		"always refused":      {zkmem.Verdict{Action: zkmem.Refuse, Code: -102}, 1 << 30, []int{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
				a := w.slowMember(incumbent.ShardsOptions{})
				pass(5 * time.Second)
				b := w.member("b", 0, incumbent.ShardsOptions{Settle: time.Second})
				pass(5 * time.Second)
				var faults, writes atomic.Int32
				w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
					if r.Op == zkmem.OpMulti && r.Session == a.SessionID() &&
						strings.HasPrefix(r.Path, machines.ShardMembers(shardsPath)) {
						if writes.Add(1); faults.Add(1) <= c.times {
							return c.verdict
						}
					}
					return v
				})
				a.end()
				pass(30 * time.Second)
				w.mustOwn("soon after the end", c.within, "a", "b")
				if n := writes.Load(); n < 1 || n > 30 {
					t.Errorf("it writes %d times", n)
				}
				pass(5 * time.Minute)
				fine(t, <-a.ended)
				w.mustOwn("in the end", []int{0, 4}, "a", "b")
				b.end(t)
			})
		})
	}
}
