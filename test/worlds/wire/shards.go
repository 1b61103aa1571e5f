package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// In some worlds the clients share shards, too.
const (
	shardsPath = "/shards"
	shardCount = 4
)

// ownedShard is what a client had last of a shard.
type ownedShard struct {
	*incumbent.Shard
	czxid int64 // of the member's node
	works bool  // its function runs
}

// openShards opens the client's member of the group.
func (c *client) openShards() (err error) {
	c.group, err = c.Shards(shardsPath, shardCount, incumbent.ShardsOptions{Settle: time.Second})
	return err
}

// sharesShards owns shards. A Run that ends by a refusal is followed by the next; some end before.
func (c *client) sharesShards(ctx context.Context, d dice) {
	for n := uint64(0); ctx.Err() == nil; n++ {
		d := d.named("shares").about(n)
		part, cancel := ctx, context.CancelFunc(func() {})
		if c.w.busy() {
			part, cancel = context.WithTimeout(ctx, d.named("run").between(time.Second, 30*time.Second))
		}
		err := c.group.Run(part, c.worksOnShard)
		cancel()
		if errors.Is(err, incumbent.ErrClosed) || !pause(ctx, d.named("rest").between(0, time.Second)) {
			return
		}
	}
}

// worksOnShard works on a shard, and returns a while after it has to, or sooner.
func (c *client) worksOnShard(s *incumbent.Shard) error {
	life, _ := c.w.truth.lastAt(s.Term().Path)
	c.mu.Lock()
	was := c.shards[s.ID]
	c.shards[s.ID] = ownedShard{s, life.czxid, true}
	c.shardRuns++
	n, d := c.shardRuns, c.dice.named("shard").about(c.shardRuns)
	c.mu.Unlock()
	if was.works {
		c.w.fail("one believer", "%s begins to work on shard %d, on which it works", c.name, s.ID)
	}
	c.w.tell("%s owns shard %d with token %d", c.name, s.ID, s.Token())
	c.w.ownedBy(c, s, life)
	c.w.look()
	c.takesIdle(s.ID)
	c.writesAs(s, life, fmt.Sprintf("%s/%s-shard-%d", onceDir, c.name[7:], n))
	if c.w.busy() {
		pause(s.Context(), d.named("work").between(0, 2*c.w.plan.timeout))
	} else {
		<-s.Context().Done()
	}
	if d.named("stays").chance(300) {
		pause(context.Background(), d.named("late").between(0, c.w.plan.timeout))
	}
	c.mu.Lock()
	c.shards[s.ID] = ownedShard{s, life.czxid, false}
	c.mu.Unlock()
	if c.w.busy() && d.named("fails").chance(300) {
		return errors.New("the work has failed")
	}
	return nil
}

// takesIdle checks that a shard moves when its work has returned, unless the member's node is gone.
func (c *client) takesIdle(shard int) {
	for _, other := range c.w.clients {
		other.mu.Lock()
		one := other.shards[shard]
		other.mu.Unlock()
		if member, known := c.w.truth.lifeOf(one.czxid); other != c && one.works && known && member.deleted.IsZero() {
			c.w.fail("a shard moves after its work", "%s owns shard %d, on which %s works", c.name, shard, other.name)
		}
	}
}

// writesAs writes under a shard: once at most, and only in the session of the member's node.
func (c *client) writesAs(s *incumbent.Shard, member life, path string) {
	err := c.calls(context.Background(), 2*c.w.plan.timeout, "Write", func(ctx context.Context) error {
		_, err := s.Write(ctx, incumbent.CreateNode(path, nil))
		return err
	})
	c.w.once(c, path, err)
	for _, session := range c.w.seen.sentIn(path) {
		if session != member.owner {
			c.w.fail("nothing crosses sessions", "%s wrote %s in session %x, under a node of session %x", c.name, path,
				session, member.owner)
		}
	}
}

// ownedBy checks that tokens of a shard grow. A member whose node an operator has deleted may not know yet.
func (w *world) ownedBy(c *client, s *incumbent.Shard, member life) {
	w.mu.Lock()
	last := w.shardTokens[s.ID]
	w.shardTokens[s.ID] = max(last, s.Token())
	w.mu.Unlock()
	if now, _ := w.truth.lastAt(member.path); s.Token() < last && !now.byOthers {
		w.fail("tokens grow", "%s owns shard %d with token %d after %d", c.name, s.ID, s.Token(), last)
	}
}

// sharers returns who believes that it owns a shard.
func (w *world) sharers(shard int) (all []believer) {
	for _, c := range w.clients {
		c.mu.Lock()
		one := c.shards[shard]
		c.mu.Unlock()
		if one.works && one.Check() == nil {
			all = append(all, believer{c.name, fmt.Sprintf("owns shard %d", shard), one.czxid})
		}
	}
	return all
}

// sharedAlone checks AloneUntil of each shard of a member whose session the ensemble has ended.
func (w *world) sharedAlone(member *life) {
	for _, c := range w.clients {
		c.mu.Lock()
		all := slices.Collect(func(yield func(ownedShard) bool) {
			for _, one := range c.shards {
				if one.Shard != nil && !yield(one) {
					return
				}
			}
		})
		c.mu.Unlock()
		for _, one := range all {
			if left := time.Until(one.AloneUntil()); one.czxid == member.czxid && left > 0 {
				w.fail("AloneUntil", "%s was promised to be alone with shard %d for %s more, and %s is gone with its "+
					"session", c.name, one.ID, left, member.path)
			}
		}
	}
}

// noteMember notes a member's node. The caller holds the lock.
func (k *truth) noteMember(txn zkmem.Txn, l *life) {
	if strings.HasPrefix(txn.Path, machines.ShardMembers(shardsPath)+"/") {
		k.members[txn.Path] = l
	}
}

// claimed returns what is wrong with the members' nodes after a transaction: no two have one shard. The caller holds
// the lock.
func (k *truth) claimed(txn zkmem.Txn) string {
	dir := machines.ShardMembers(shardsPath) + "/"
	if !strings.HasPrefix(txn.Path, dir) || txn.Code != zkmem.OpSetData {
		return ""
	}
	m, err := machines.ParseShardMember(txn.Data)
	if err != nil {
		return fmt.Sprintf("%s: %v", txn.Path, err)
	}
	k.owns[txn.Path] = m.Owns
	for path, others := range k.owns {
		for _, shard := range others {
			if path != txn.Path && k.nodes[path] != nil && m.Owns.Has(shard) {
				return fmt.Sprintf("%s and %s have shard %d", txn.Path, path, shard)
			}
		}
	}
	return ""
}

// lastAt returns a copy of the life of a member's node, which may be gone.
func (k *truth) lastAt(path string) (life, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l := k.members[path]; l != nil {
		return *l, true
	}
	return life{}, false
}

// shared checks in the calm that each shard has an owner, and that all have their share.
func (w *world) shared() {
	if !w.plan.shards {
		return
	}
	w.within("every shard has an owner", func() string {
		counts := map[string]int{}
		for shard := range shardCount {
			all := w.sharers(shard)
			if len(all) == 0 {
				return fmt.Sprintf("shard %d has none", shard)
			}
			counts[all[0].name]++
		}
		for _, c := range w.clients {
			if n := counts[c.name]; n > shardCount/len(w.clients)+1 || n < shardCount/len(w.clients)-1 {
				return fmt.Sprintf("%s has %d of %d", c.name, n, shardCount)
			}
		}
		return ""
	})
}
