package chaos

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

const memberA, memberB = "member-a", "member-b"

// says returns what a member's node says.
func says(zxid, session int64, member, owns string) txn {
	return setData(zxid, session, byShards.places()+"/"+member,
		fmt.Sprintf(`{"id":%q,"weight":1,"maxOwned":8,"owns":%q}`, member[len("member-"):], owns))
}

// joins is the create of a member's node.
func joins(zxid, session int64, member string) txn {
	t := says(zxid, session, member, "")
	t.kind, t.ephemeral = txnCreate, true
	return t
}

// assigned is an assignment.
func assigned(zxid int64, a, b string) txn {
	return setData(zxid, 1, machines.ShardAssignment(byShards.path()),
		fmt.Sprintf(`{"shards":8,"owners":{"member-a":%q,"member-b":%q},"ids":{}}`, a, b))
}

// inShard is a belief in a shard.
func inShard(part int, token, from, to int64) belief {
	b := believed(token, from, to)
	b.part = part
	return b
}

// shardMoves tells of A, which owns the shards 0 and 1, and of B, to which the shard 1 moves, until its session ends.
func shardMoves() *script {
	to := byShards.part(1).written()
	return &script{
		history: []txn{
			joins(1, 1, memberA), assigned(2, "0-1", ""), says(3, 1, memberA, "0-1"), joins(4, 2, memberB),
			setData(5, 1, to, "a 1 3"),
			assigned(6, "0", "1"), says(8, 1, memberA, "0"), says(9, 2, memberB, "1"), setData(10, 2, to, "b 1 9"),
			closed(12, 2), assigned(13, "0-1", ""), says(14, 1, memberA, "0-1"),
		},
		clients: []client{
			{id: "a", beliefs: []belief{inShard(0, 3, 31, 160), inShard(1, 3, 31, 65), inShard(1, 14, 141, 160)},
				writes: []write{{n: 1, fate: written, part: 1}}, done: []handled{{3, "1", 75 * second / 10}}},
			{id: "b", beliefs: []belief{inShard(1, 9, 91, 119)}, writes: []write{{n: 1, fate: written, part: 1}},
				done: []handled{{9, "1", 15 * second}}},
		},
	}
}

func TestMadeUpShards(t *testing.T) {
	to := byShards.part(1).written()
	checkStories(t, byShards, shardMoves, map[string]madeUp{
		"all is well": {func(*script) {}, nil},
		"A believes until B does": {func(s *script) {
			s.clients[0].beliefs[1].to = 10 * second
		}, []string{"beyond", "together"}},
		"A believes after it has released the shard": {func(s *script) {
			s.clients[0].beliefs[1].to = 85 * second / 10
		}, []string{"beyond"}},
		"A believes before its claim": {func(s *script) {
			s.clients[0].beliefs[2].from = 135 * second / 10
		}, []string{"beyond"}},
		"B claims what A owns": {func(s *script) {
			s.without(8)
			s.also(says(10, 1, memberA, "0"))
			s.clients[0].done = nil
		}, []string{"beyond", "two owners"}},
		"B claims before the shard is assigned to it": {func(s *script) {
			s.without(6)
			s.also(assigned(10, "0", "1"))
		}, []string{"claimed and not assigned"}},
		"B claims what is assigned to A once more": {func(s *script) {
			s.also(assigned(8, "0-1", ""))
		}, []string{"claimed and not assigned"}},
		"A releases the shard under its work": {func(s *script) {
			s.clients[0].done[0].at = 9 * second
		}, []string{"released under its work"}},
		"A deletes its node under its work": {func(s *script) {
			s.without(8)
			s.also(deleted(8, byShards.places()+"/"+memberA))
			s.clients[0].beliefs = s.clients[0].beliefs[1:2]
			s.clients[0].done[0].at = 9 * second
			s.without(14)
		}, []string{"released under its work"}},
		"the token of the shard shrinks": {func(s *script) {
			s.clients[0].beliefs[1], s.clients[0].beliefs[2] = s.clients[0].beliefs[2], s.clients[0].beliefs[1]
		}, []string{"shrunk"}},
		"B writes after it has lost the shard": {func(s *script) {
			s.without(10)
			s.also(setData(13, 2, to, "b 1 9"))
		}, []string{"written without the node"}},
		"shards go to and fro": {func(s *script) {
			for zxid := int64(20); zxid < 60; zxid += 2 {
				s.also(assigned(zxid, "", ""), assigned(zxid+1, "0-1", ""))
			}
		}, []string{"moved too often"}},
		"a node says what no member says": {func(s *script) {
			s.also(setData(15, 1, byShards.places()+"/"+memberA, "hello"))
		}, []string{"unreadable"}},
	})
}
