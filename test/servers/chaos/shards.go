package chaos

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/incumbent-go/incumbent/machines"
)

// judgeShards holds what members believed, wrote and worked on against what was committed, shard by shard.
func judgeShards(clients []client, nodes []node, history []txn, stamp func(ms int64) moment,
	session time.Duration) (v verdict) {
	b := &shardBook{stamp: stamp, members: map[string]*memberNode{}, open: map[ownership]int{}}
	for _, t := range history {
		b.note(t)
	}
	for part := range shardCount {
		k := byShards.part(part)
		owned := slices.DeleteFunc(slices.Clone(b.owned), func(n node) bool { return !k.owns(n) })
		some := clientsOf(part, clients)
		v.add(judge(k, some, owned, history, session))
		v.judgeReturns(some, owned)
	}
	if v.moves, v.mayMove = b.moves, b.mayMove; v.moves > v.mayMove {
		v.complain("moved too often", "%d shards left members that were there, want at most %d", v.moves, v.mayMove)
	}
	v.wrong = append(v.wrong, b.wrong...)
	v.orphans += orphans(nodes, session+expiryLag)
	return v
}

// clientsOf returns what clients say of one shard.
func clientsOf(part int, clients []client) (some []client) {
	for _, c := range clients {
		c.beliefs = slices.DeleteFunc(slices.Clone(c.beliefs), func(b belief) bool { return b.part != part })
		c.writes = slices.DeleteFunc(slices.Clone(c.writes), func(w write) bool { return w.part != part })
		c.done = slices.DeleteFunc(slices.Clone(c.done), func(d handled) bool { return d.item != strconv.Itoa(part) })
		some = append(some, c)
	}
	return some
}

// judgeReturns: a shard is released, or the member's node deleted, only after the work has returned.
func (v *verdict) judgeReturns(clients []client, owned []node) {
	for _, c := range clients {
		for _, d := range c.done {
			for _, n := range with(d.token, c.id, owned) {
				if !n.expired && d.at > n.deleted.latest {
					v.complain("released under its work", "%s by %s, %s before that returned", n.path, c.id,
						span{n.deleted.latest, d.at}.length())
				}
			}
		}
	}
}

// add adds a verdict on another part of the same line.
func (v *verdict) add(o verdict) {
	v.together, v.asleep = append(v.together, o.together...), append(v.asleep, o.asleep...)
	v.beyond, v.wrong = append(v.beyond, o.beyond...), append(v.wrong, o.wrong...)
	v.orphans, v.shrunk, v.terms = v.orphans+o.orphans, v.shrunk+o.shrunk, v.terms+o.terms
	v.writes, v.refused = v.writes+o.writes, v.refused+o.refused
}

// shardBook follows assignments and members' nodes through a history. That a member owns a shard is a node of the
// shard's own line: from the transaction that claimed the shard to the one that released it.
type shardBook struct {
	ledger
	stamp   func(ms int64) moment
	plan    machines.ShardPlan
	members map[string]*memberNode // that exist, by path
	owned   []node
	open    map[ownership]int // those that have not ended, in owned
}

type memberNode struct {
	id      string
	session int64
	owns    machines.ShardSet
	sick    bool
}

type ownership struct {
	member string
	shard  int
}

func (b *shardBook) note(t txn) {
	switch {
	case t.kind == txnCloseSession:
		for _, p := range slices.Sorted(maps.Keys(b.members)) {
			if b.members[p].session == t.session {
				b.endMember(p, t)
			}
		}
	case t.path == machines.ShardAssignment(byShards.path()):
		b.assign(t)
	case path.Dir(t.path) != byShards.places():
	case t.kind == txnDelete:
		b.endMember(t.path, t)
	default:
		b.claim(t)
	}
}

// claim notes what a member's node says now.
func (b *shardBook) claim(t txn) {
	said, err := machines.ParseShardMember(t.data)
	if err != nil {
		b.complain("unreadable", "%s at %#x: %v", t.path, t.zxid, err)
		return
	}
	m := b.members[t.path]
	if m == nil {
		m = &memberNode{id: said.ID, session: t.session}
		b.members[t.path] = m
		b.membersChanged()
	}
	if m.sick != said.Unhealthy {
		m.sick = said.Unhealthy
		b.membersChanged()
	}
	for _, shard := range m.owns {
		if !said.Owns.Has(shard) {
			b.end(ownership{t.path, shard}, t)
		}
	}
	for _, shard := range said.Owns {
		if !m.owns.Has(shard) {
			b.begin(ownership{t.path, shard}, m, t)
		}
	}
	m.owns = said.Owns
}

// begin notes that a member owns a shard: one that is assigned to it, and that no other one owns.
func (b *shardBook) begin(o ownership, m *memberNode, t txn) {
	if !b.plan.Owners[path.Base(o.member)].Has(o.shard) {
		b.complain("claimed and not assigned", "shard %d by %s at %#x", o.shard, m.id, t.zxid)
	}
	for p, other := range b.members {
		if p != o.member && other.owns.Has(o.shard) {
			b.complain("two owners", "%s and %s of shard %d at %#x", other.id, m.id, o.shard, t.zxid)
		}
	}
	b.open[o] = len(b.owned)
	b.owned = append(b.owned, node{
		path: byShards.part(o.shard).path() + "/" + path.Base(o.member), id: m.id, czxid: t.zxid, session: m.session,
		created: b.stamp(t.at), deleted: never, ended: forever,
	})
}

func (b *shardBook) end(o ownership, t txn) {
	n := &b.owned[b.open[o]]
	n.deleted, n.ended, n.expired = b.stamp(t.at), t.zxid, t.kind == txnCloseSession
	delete(b.open, o)
}

func (b *shardBook) endMember(p string, t txn) {
	m := b.members[p]
	if m == nil {
		return
	}
	for _, shard := range m.owns {
		b.end(ownership{p, shard}, t)
	}
	delete(b.members, p)
	b.membersChanged()
}

// assign notes an assignment.
func (b *shardBook) assign(t txn) {
	plan, err := machines.ParseShardPlan(t.data)
	if err != nil {
		b.complain("unreadable", "%s at %#x: %v", t.path, t.zxid, err)
		return
	}
	was, is := b.plan.Assigned(), plan.Assigned()
	for shard := range was {
		if was[shard] != is[shard] && b.members[byShards.places()+"/"+was[shard]] != nil {
			b.moves++
		}
	}
	b.plan = plan
}

// membersChanged notes that a member has come, has gone, or has become healthy or unhealthy. For each such change as
// many shards as one member has may leave members that exist.
func (b *shardBook) membersChanged() {
	able := 0
	for _, m := range b.members {
		if !m.sick {
			able++
		}
	}
	able = max(able, 1)
	b.mayMove += (shardCount + able - 1) / able
}
