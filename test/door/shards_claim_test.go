package door_test

import (
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

// lateClaims are transactions of one session that reach the ensemble late.
type lateClaims struct {
	session, held atomic.Int64
	arrives       chan struct{}
}

// holdClaims holds transactions up, from when a session is given.
func (w *shardWorld) holdClaims() *lateClaims {
	late := &lateClaims{arrives: make(chan struct{})}
	w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
		if r.Op == zkmem.OpMulti && r.Session == late.session.Load() {
			late.held.Add(1)
			v.Wait = late.arrives
		}
		return v
	})
	return late
}

// arrive lets them reach the ensemble, and later ones at once.
func (l *lateClaims) arrive() {
	l.session.Store(0)
	close(l.arrives)
}

// A member's claim of shards reaches the ensemble when these are assigned to another one, which has claimed them. It is
// not carried out: at no instant do two members' nodes have one shard. Then the member has what is left to it.
func TestALateClaimOfShardsIsRefused(t *testing.T) {
	shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
		end := w.neverShared()
		first := w.member("first", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(3 * time.Second)
		w.mustOwn("alone", []int{8}, "first")

		late := w.holdClaims()
		slow := &shardMember{node: w.open()}
		fails(t, slow.WaitConnected(t.Context()))
		late.session.Store(slow.SessionID())
		slow.group = must(slow.Shards(shardsPath, w.shards, incumbent.ShardsOptions{
			ID: "slow", Settle: time.Second}))
		w.begin(slow, "slow", 0)
		pass(1500 * time.Millisecond)
		if w.mustOwn("before its claim", []int{0}, "slow"); late.held.Load() == 0 {
			t.Fatal("no claim is held up")
		}
		heavy := w.member("heavy", 0, incumbent.ShardsOptions{Settle: time.Second, Weight: 100})
		pass(1500 * time.Millisecond)
		if n := w.owned("heavy")[0]; n < 6 {
			t.Fatalf("the heavy one works on %d shards", n)
		}
		late.arrive()
		pass(time.Minute)
		if all := w.owned("first", "slow", "heavy"); all[0]+all[1]+all[2] != 8 {
			t.Errorf("they work on %d shards", all)
		}
		end()
		for _, m := range []*shardMember{first, slow, heavy} {
			m.end(t)
		}
	})
}
