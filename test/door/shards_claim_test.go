package door_test

import (
	"context"
	"errors"
	"path"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// sharedShard returns a shard that the nodes of two members say they own, -1 if there is none.
func sharedShard(v *zkmem.View) int {
	owned := map[int]bool{}
	for _, name := range v.Children(machines.ShardMembers(shardsPath)) {
		data, _, err := v.Get(path.Join(machines.ShardMembers(shardsPath), name))
		m, bad := machines.ParseShardMember(data)
		if errors.Join(err, bad) != nil {
			continue
		}
		for _, shard := range m.Owns {
			if owned[shard] {
				return shard
			}
			owned[shard] = true
		}
	}
	return -1
}

// A member's claim of shards reaches the ensemble when these are assigned to another one, which has claimed them. It is
// not carried out: at no instant do two members' nodes have one shard. Then the member has what is left to it.
func TestALateClaimOfShardsIsRefused(t *testing.T) {
	shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
		ended, end := context.WithCancel(t.Context())
		both := make(chan error, 1)
		go func() {
			both <- w.srv.WaitFor(ended, func(v *zkmem.View) bool { return sharedShard(v) >= 0 })
		}()
		first := w.member("first", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(3 * time.Second)
		w.mustOwn("alone", []int{8}, "first")

		var late atomic.Int64 // the session whose claim is late
		arrives, held := make(chan struct{}), atomic.Int64{}
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Op == zkmem.OpMulti && r.Session == late.Load() {
				held.Add(1)
				v.Wait = arrives
			}
			return v
		})
		slow := &shardMember{node: w.open()}
		fails(t, slow.WaitConnected(t.Context()))
		late.Store(slow.SessionID())
		slow.group = must(slow.Shards(shardsPath, w.shards, incumbent.ShardsOptions{
			LatchOptions: incumbent.LatchOptions{ID: "slow"}, Settle: time.Second}))
		w.begin(slow, "slow", 0)
		pass(1500 * time.Millisecond)
		if w.mustOwn("before its claim", []int{0}, "slow"); held.Load() == 0 {
			t.Fatal("no claim is held up")
		}
		heavy := w.member("heavy", 0, incumbent.ShardsOptions{Settle: time.Second, Weight: 100})
		pass(1500 * time.Millisecond)
		if n := w.owned("heavy")[0]; n < 6 {
			t.Fatalf("the heavy one works on %d shards", n)
		}
		late.Store(0)
		close(arrives)
		pass(time.Minute)
		if all := w.owned("first", "slow", "heavy"); all[0]+all[1]+all[2] != 8 {
			t.Errorf("they work on %d shards", all)
		}
		end()
		if err := <-both; err == nil {
			t.Error("the nodes of two members had one shard")
		}
		for _, m := range []*shardMember{first, slow, heavy} {
			m.end(t)
		}
	})
}
