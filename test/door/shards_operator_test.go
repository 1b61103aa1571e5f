package door_test

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/test/kit/selection"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// briefly is a short time to settle.
var briefly = incumbent.ShardsOptions{Settle: time.Second}

// neverShared fails the test if the nodes of two members ever say that they own one shard.
func (w *shardWorld) neverShared() (end func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	both := make(chan error, 1)
	go func() {
		both <- w.srv.WaitFor(ctx, func(v *zkmem.View) bool { return sharedShard(v) >= 0 })
	}()
	return func() {
		cancel()
		if err := <-both; err == nil {
			w.t.Error("the nodes of two members had one shard")
		}
	}
}

// mustShare checks that all shards are owned, and that the members' shares are fair: 8 shards, 2 members.
func (w *shardWorld) mustShare(when string) {
	w.t.Helper()
	if got := w.owned("a", "b"); got[0]+got[1] != 8 || min(got[0], got[1]) < 3 {
		w.t.Errorf("%s, a and b work on %d shards", when, got)
	}
}

// excuse says whether members' nodes are being deleted.
func (w *shardWorld) excuse(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.excused = yes
}

// deleteAll deletes a node and all under it, as an operator does: what appears meanwhile, too.
func (w *shardWorld) deleteAll(node string) {
	for range 100 {
		tree := w.srv.Snapshot()
		if !tree.Exists(node) {
			return
		}
		names, _, _ := tree.Children(node)
		for _, name := range names {
			w.deleteAll(path.Join(node, name))
		}
		_ = w.srv.Delete(node) // it may have got another child
	}
	w.t.Errorf("%s cannot be deleted", node)
}

func (w *shardWorld) deleteAssignment() {
	fine(w.t, w.srv.Delete(machines.ShardAssignment(shardsPath)))
}

// nodeOf returns the node of a member, by its id.
func (w *shardWorld) nodeOf(id string) string {
	dir, tree := machines.ShardMembers(shardsPath), w.srv.Snapshot()
	names, _, _ := tree.Children(dir)
	for _, name := range names {
		data, _, _ := tree.Get(path.Join(dir, name))
		if m, err := machines.ParseShardMember(data); err == nil && m.ID == id {
			return path.Join(dir, name)
		}
	}
	return ""
}

// An operator deletes nodes of a group: it goes on, and no shard has two owners. Nothing moves for the assignment.
func TestAnOperatorDeletesNodesOfShards(t *testing.T) {
	for name, one := range map[string]struct {
		remove func(w *shardWorld)
		moves  bool // members' nodes are among these
	}{
		"the assignment":          {(*shardWorld).deleteAssignment, false},
		"the writer's node":       {func(w *shardWorld) { fine(w.t, w.srv.Delete(w.nodeOf("a"))) }, true},
		"another member's node":   {func(w *shardWorld) { fine(w.t, w.srv.Delete(w.nodeOf("b"))) }, true},
		"the members' directory":  {func(w *shardWorld) { w.deleteAll(machines.ShardMembers(shardsPath)) }, true},
		"the writers' directory":  {func(w *shardWorld) { w.deleteAll(machines.ShardWriters(shardsPath)) }, false},
		"the group":               {func(w *shardWorld) { w.deleteAll(shardsPath) }, true},
		"all above the directory": {func(w *shardWorld) { w.deleteAll("/ns") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
				a, b := w.member("a", 0, briefly), w.member("b", 0, briefly)
				pass(10 * time.Second)
				w.mustShare("before")
				end, before := w.neverShared(), w.worked
				w.excuse(one.moves)
				one.remove(w)
				pass(time.Second)
				w.excuse(false)
				pass(20 * time.Second)
				w.mustShare("after")
				if !one.moves && w.worked != before {
					t.Errorf("the functions were called %d times more", w.worked-before)
				}
				if !w.srv.Snapshot().Exists(machines.ShardAssignment(shardsPath)) {
					t.Error("there is no assignment")
				}
				for _, m := range []*shardMember{a, b} {
					fine(t, m.group.Err())
				}
				c := w.member("c", 0, briefly)
				pass(10 * time.Second)
				if got := w.owned("c")[0]; got < 2 {
					t.Errorf("one who comes later works on %d shards", got)
				}
				end()
				for _, m := range []*shardMember{a, b, c} {
					m.end(t)
				}
			})
		})
	}
}

// An operator writes an assignment that is none, or one for another number of shards: all members stop, and say so.
func TestAnOperatorWritesTheAssignment(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":      "",
		"no JSON":      "garbage",
		"no shards":    "{}",
		"fewer shards": `{"shards":3,"owners":{},"ids":{}}`,
		"wrong set":    `{"shards":8,"owners":{"member-x":"3-1"},"ids":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
				a, b := w.member("a", 0, briefly), w.member("b", 0, briefly)
				pass(10 * time.Second)
				fine(t, w.srv.Set(machines.ShardAssignment(shardsPath), []byte(text)))
				pass(20 * time.Second)
				w.mustOwn("after", []int{0, 0}, "a", "b")
				for _, m := range []*shardMember{a, b} {
					var err error
					ended := false
					select {
					case err = <-m.ended:
						ended = true
					default:
						err = m.group.Err()
					}
					number := name == "fewer shards"
					if ended != number || errors.Is(err, incumbent.ErrLimitDiffers) != number || err == nil ||
						strings.Contains(err.Error(), "semaphore") ||
						!strings.Contains(err.Error(), machines.ShardAssignment(shardsPath)) {
						t.Errorf("Run has ended: %t; %v", ended, err)
					}
				}
				w.deleteAssignment()
				if name == "fewer shards" {
					w.begin(a, "a", 0)
					w.begin(b, "b", 0)
				}
				pass(30 * time.Second)
				w.mustShare("the assignment is deleted")
				fine(t, cmp.Or(a.group.Err(), b.group.Err()))
				a.end(t)
				b.end(t)
			})
		})
	}
}

// An operator deletes the assignment while a member's claim is under way. The next assignment has the same version, but
// the claim is not carried out: others have claimed these shards since.
func TestALateClaimBeforeTheAssignmentIsDeleted(t *testing.T) {
	shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
		late, end := w.holdClaims(), w.neverShared()
		long := incumbent.ShardsOptions{Settle: time.Hour}
		writer := w.member("writer", 0, long)
		pass(time.Second)
		slow := w.member("slow", 0, long)
		pass(time.Second)
		late.session.Store(slow.SessionID())
		fine(t, w.srv.Delete(w.nodeOf("writer")))
		w.deleteAssignment()
		for tries := 0; late.held.Load() == 0; tries++ { // two deletions may cross the member's reads
			if tries == 20 {
				t.Fatal("no claim is held up")
			}
			pass(500 * time.Millisecond)
		}
		heavy := w.member("heavy", 0, incumbent.ShardsOptions{Settle: time.Hour, Weight: 100})
		pass(500 * time.Millisecond)
		w.deleteAssignment()
		pass(500 * time.Millisecond)
		if n := w.owned("heavy")[0]; n == 0 {
			t.Fatal("the heavy one has no shards")
		}
		late.arrive()
		pass(time.Minute)
		if all := w.owned("writer", "slow", "heavy"); all[0]+all[1]+all[2] != 8 {
			t.Errorf("they work on %d shards", all)
		}
		end()
		for _, m := range []*shardMember{writer, slow, heavy} {
			m.end(t)
		}
	})
}

// An operator deletes the writer's place again and again, each time before its write arrives: that is no end of Run.
func TestAnOperatorDeletesTheWritersPlace(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		var deleted atomic.Int64
		w.srv.Intercept(func(r zkmem.Request) zkmem.Verdict {
			place := strings.HasPrefix(r.Path, machines.ShardWriters(shardsPath)+"/")
			if place && r.Op == zkmem.OpMulti && deleted.Load() < 8 {
				deleted.Add(1)
				_ = w.srv.Delete(r.Path) // it may be deleted
			}
			return zkmem.Verdict{}
		})
		a := w.member("a", 0, briefly)
		pass(10 * time.Minute) // the latch waits longer after each deletion
		select {
		case err := <-a.ended:
			t.Fatalf("Run has ended: %v", err)
		default:
		}
		if w.mustOwn("in the end", []int{4}, "a"); deleted.Load() < 8 || a.group.Err() != nil {
			t.Errorf("its place was deleted %d times: %v", deleted.Load(), a.group.Err())
		}
		a.end(t)
	})
}

// An operator deletes nodes at random while members come, go and lose their connections: no two nodes ever have one
// shard, and in the end each shard has an owner.
func TestAnOperatorAtRandomAmongShards(t *testing.T) {
	for seed := range uint64(selection.Of(t, "seeds", 2, 3, 8)) {
		shardBubble(t, 12, func(t *testing.T, w *shardWorld) {
			random := rand.New(rand.NewPCG(repeat.Seed(t, 2)+seed, 45))
			ids, all := []string{"a", "b", "c"}, map[string]*shardMember{}
			for _, id := range ids {
				all[id] = w.member(id, 0, briefly)
			}
			end := w.neverShared()
			for range 40 {
				m := all[ids[random.IntN(len(ids))]]
				switch random.IntN(6) {
				case 0:
					w.srv.Disconnect(m.SessionID())
				case 1:
					w.excuse(true)
					_ = w.srv.Delete(w.nodeOf(m.group.ID())) // there may be none
				case 2:
					w.excuse(true)
					w.deleteAll(shardsPath)
				case 3:
					m.end(t)
					w.begin(m, m.group.ID(), 0)
				default:
					_ = w.srv.Delete(machines.ShardAssignment(shardsPath)) // it may be deleted
				}
				pass(time.Millisecond)
				w.excuse(false)
				pass(time.Duration(random.IntN(3000)) * time.Millisecond)
			}
			pass(2 * time.Minute)
			if got := w.owned(ids...); slices.Min(got) < 3 || got[0]+got[1]+got[2] != 12 {
				t.Errorf("seed %d: in the end they work on %v", seed, got)
				for id, m := range all {
					t.Log(id, m.group.Phase(), m.group.Err(), m.group.Owned())
				}
			}
			end()
			for _, m := range all {
				m.end(t)
			}
		})
	}
}

// show lets everybody read the node of a member.
func (w *shardWorld) show(m *shardMember) {
	var own string
	w.srv.View(func(v *zkmem.View) {
		for _, name := range v.Children(machines.ShardMembers(shardsPath)) {
			path := machines.ShardMembers(shardsPath) + "/" + name
			if _, stat, err := v.Get(path); err == nil && stat.EphemeralOwner == m.SessionID() {
				own = path
			}
		}
	})
	must(w.srv.Do(zkmem.Op{Code: zkmem.OpSetACL, Path: own, Version: zkmem.AnyVersion,
		ACL: []zkmem.ACL{{Perms: zkmem.PermAll, Scheme: "world", ID: "anyone"}}}))
}

// A member whose node others may not read gets no shards, and ends nobody's Run. Before there is an assignment it may
// own any shard, so that nobody claims one until it has gone.
func TestAMemberThatCannotBeRead(t *testing.T) {
	for name, later := range map[string]bool{"the assignment goes on": false, "the assignment is deleted": true} {
		t.Run(name, func(t *testing.T) {
			shardBubble(t, 8, func(t *testing.T, w *shardWorld) {
				a, b := w.member("a", 0, briefly), w.member("b", 0, briefly)
				pass(10 * time.Second)
				hidden := w.member("hidden", 0, briefly, func(c *incumbent.Config) {
					c.Auth = []incumbent.Auth{must(incumbent.ParseAuth("digest:x:y"))}
					c.ACL = incumbent.CreatorAll()
				})
				pass(time.Minute)
				if later {
					w.deleteAssignment()
					pass(time.Minute)
				}
				w.mustShare("with one that cannot be read")
				w.mustOwn("others may not read it", []int{0}, "hidden")
				if err := cmp.Or(a.group.Err(), b.group.Err()); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
					t.Errorf("the writer says %v", err)
				}
				w.expire(b)
				pass(time.Minute)
				if n := w.owned("a", "b"); (n[0]+n[1] == 8) == later {
					t.Errorf("after the end of a session, they own %d", n)
				}
				if !later {
					w.show(hidden)
					pass(time.Minute)
					if w.owned("hidden")[0] == 0 {
						t.Error("it owns nothing although others may read it now")
					}
				}
				hidden.end(t)
				pass(5 * time.Minute)
				w.mustShare("it has gone")
				fine(t, cmp.Or(a.group.Err(), b.group.Err()))
				a.end(t)
				b.end(t)
			})
		})
	}
}
