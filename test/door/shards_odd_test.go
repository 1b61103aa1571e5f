package door_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
)

// The feed yields an error for an assignment that makes no sense, and goes on.
func TestAnAssignmentThatMakesNoSense(t *testing.T) {
	shardBubble(t, 2, func(t *testing.T, w *shardWorld) {
		group := must(w.open().Shards(shardsPath, 2, incumbent.ShardsOptions{}))
		must(w.srv.Create("/ns", nil, 0))
		must(w.srv.Create(shardsPath, nil, 0))
		node := machines.ShardAssignment(shardsPath)
		must(w.srv.Create(node, nil, 0))
		odd := []string{`{"shards":-1}`, `{"shards":1000000000000000}`, `{"shards":5000}`, `x`}
		fine(t, w.srv.Set(node, []byte(odd[0])))
		yielded := 0
		for now, err := range group.Assignment(t.Context()) {
			switch yielded++; {
			case yielded < len(odd):
				if err == nil || len(now.Owners) > 0 {
					t.Errorf("%s is %+v", odd[yielded-1], now)
				}
				fine(t, w.srv.Set(node, []byte(odd[yielded])))
				continue
			case yielded == len(odd):
				plan := `{"shards":1,"owners":{"m":"0-1"},"ids":{"m":"x"},"leaving":{"m":"0-1"}}`
				fine(t, w.srv.Set(node, []byte(plan)))
				continue
			}
			if err != nil || strings.Join(now.Owners, ",") != "x" || len(now.Moving) != 1 {
				t.Errorf("%+v %v", now, err)
			}
			break
		}
	})
}

// An ID that others could not read, or that would not fit into an assignment, is refused.
func TestShardsIDsThatCannotBeWritten(t *testing.T) {
	shardBubble(t, 2, func(t *testing.T, w *shardWorld) {
		c := w.open()
		for id, fits := range map[string]bool{
			"\xff": false, "a\xf0b": false, strings.Repeat("x", 1025): false, strings.Repeat("ä", 512): true,
			"<\n\x00\"{}>": true,
		} {
			_, err := c.Shards(shardsPath, 2, incumbent.ShardsOptions{ID: id})
			if (err == nil) != fits {
				t.Errorf("%.20q: %v", id, err)
			}
		}
	})
}

// A node that no session owns, such as one that was copied, is no member: all shards are worked on.
func TestANodeWithoutASessionIsNoShardsMember(t *testing.T) {
	shardBubble(t, 4, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(5 * time.Second)
		lasting := machines.ShardMembers(shardsPath) + "/member-00000000-0000-4000-8000-000000000000"
		must(w.srv.Create(lasting, []byte(`{"id":"x","weight":1,"maxOwned":4,"owns":"0-3"}`), 0))
		pass(time.Minute)
		b := w.member("b", 0, incumbent.ShardsOptions{Settle: time.Second})
		pass(time.Minute)
		w.mustOwn("with a node that lasts", []int{3, 1}, "a", "b")
		a.end(t)
		pass(time.Second)
		w.mustOwn("a has ended", []int{4}, "b")
		b.end(t)
	})
}

// When all members have ended and the assignment was deleted, the group may have another number of shards.
func TestAnotherNumberOfShards(t *testing.T) {
	shardBubble(t, 3, func(t *testing.T, w *shardWorld) {
		a := w.member("a", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		a.end(t)
		w.shards = 5
		next := must(w.open().Shards(shardsPath, w.shards, incumbent.ShardsOptions{}))
		nothing := func(*incumbent.Shard) error { return nil }
		if err := next.Run(t.Context(), nothing); !errors.Is(err, incumbent.ErrLimitDiffers) {
			t.Errorf("the assignment is for another number: %v", err)
		}
		fine(t, w.srv.Delete(machines.ShardAssignment(shardsPath)))
		b := w.member("b", 0, incumbent.ShardsOptions{})
		pass(time.Second)
		w.mustOwn("it was deleted", []int{5}, "b")
		b.end(t)
	})
}
