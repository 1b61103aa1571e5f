package machines

import (
	"cmp"
	"slices"
)

// How shards are dealt to members. Nothing here knows nodes or time: a plan follows from what it is given alone. It has
// nothing in common with DealItems, whose three strategies ElasticJob defines: those deal all items afresh, without
// weights, and without regard to who had them.

// shardMember is a member that can own shards.
type shardMember struct {
	node   string // the name of its node, by which shards are owned
	id     string // the same before and after a restart
	weight int    // its part of the shards, compared with the others': at least 1
	most   int    // the most shards that it takes
}

// shardOwner says where a shard belongs.
type shardOwner struct {
	node string // the member that owns it; "": nobody may take it
	home string // the id of the member that it was balanced to last; "": none
}

// planShards returns the owner of each shard, given the owners before. Members are those that may own shards: a shard
// of any other owner is an orphan, and goes to a member at once. Shards of members stay where they are, unless the
// members have settled. Then as few of them move as bring each member to less than one shard, or one, away from its
// share: what its weight says, but no more than the most that it takes.
//
// A shard that has left its home, because that was away, goes back there before it goes elsewhere. So members that are
// restarted one after the other, none for so long that the others settle, move each shard at most twice, unless some
// own the most that they take by then. Present are the ids of all
// members that exist; the home of a shard is forgotten if its member is not there when the members have settled.
func planShards(before []shardOwner, members []shardMember, present []string, settled bool) []shardOwner {
	p := newShardPlan(before, members)
	if settled {
		p.forgetHomes(present)
	} else {
		p.placeAtHome()
	}
	p.placeOrphans(settled)
	if settled {
		p.balance()
	}
	return p.owners
}

// shardPlan is a plan that is being made.
type shardPlan struct {
	owners  []shardOwner
	members []planMember // sorted by id
	by      map[string]*planMember
	byID    map[string]*planMember
	scale   int64 // shares are in fractions of a shard: this many are one
}

// planMember is a member, and what the plan gives it.
type planMember struct {
	shardMember
	share  int64
	capped bool // its share is the most that it takes
	owned  []int
}

func newShardPlan(before []shardOwner, members []shardMember) *shardPlan {
	p := &shardPlan{owners: slices.Clone(before), by: map[string]*planMember{}, byID: map[string]*planMember{}}
	for _, m := range members {
		p.members = append(p.members, planMember{shardMember: m})
	}
	slices.SortFunc(p.members, func(a, b planMember) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.node, b.node))
	})
	for i := range p.members {
		m := &p.members[i]
		p.by[m.node], p.byID[m.id] = m, m
	}
	for shard, o := range p.owners {
		if m := p.by[o.node]; m != nil {
			m.owned = append(m.owned, shard)
		} else {
			p.owners[shard].node = ""
		}
	}
	p.setShares(len(before))
	return p
}

// setShares sets the members' shares. What a member's weight says beyond the most that it takes is the others'.
func (p *shardPlan) setShares(shards int) {
	rest, weights := int64(shards), int64(0)
	for _, m := range p.members {
		weights += int64(m.weight)
	}
	for again := true; again; {
		again = false
		for i := range p.members {
			if m := &p.members[i]; !m.capped && int64(m.most)*weights < rest*int64(m.weight) {
				m.capped, again = true, true
			}
		}
		rest, weights = int64(shards), 0
		for _, m := range p.members {
			if m.capped {
				rest -= int64(m.most)
			} else {
				weights += int64(m.weight)
			}
		}
	}
	p.scale = max(weights, 1)
	for i := range p.members {
		m := &p.members[i]
		m.share = rest * int64(m.weight)
		if m.capped {
			m.share = int64(m.most) * p.scale
		}
	}
}

// gap returns by how much a member's share is more than it owns.
func (p *shardPlan) gap(m *planMember) int64 { return m.share - int64(len(m.owned))*p.scale }

// over and under report whether a member is more than one shard away from its share.
func (p *shardPlan) over(m *planMember) bool  { return p.gap(m) < -p.scale || len(m.owned) > m.most }
func (p *shardPlan) under(m *planMember) bool { return p.gap(m) > p.scale }

// maySpare reports whether a member with one shard less is not more than one away from its share.
func (p *shardPlan) maySpare(m *planMember) bool { return p.gap(m) <= 0 && len(m.owned) > 0 }

// mayTake reports whether a member with one shard more is not more than one away from its share.
func (p *shardPlan) mayTake(m *planMember) bool { return p.gap(m) >= 0 && len(m.owned) < m.most }

// forgetHomes makes the members at which the shards are their homes, if their homes are not there any more.
func (p *shardPlan) forgetHomes(present []string) {
	for shard, o := range p.owners {
		if !slices.Contains(present, o.home) {
			p.owners[shard].home = ""
			if m := p.by[o.node]; m != nil {
				p.owners[shard].home = m.id
			}
		}
	}
}

// placeAtHome gives orphans back to their homes.
func (p *shardPlan) placeAtHome() {
	for shard, o := range p.owners {
		if m := p.byID[o.home]; o.node == "" && m != nil && len(m.owned) < m.most {
			p.give(shard, m)
		}
	}
}

// placeOrphans gives each orphan to the member that lacks most, if there is one that may take it. If the members have
// settled, its home is preferred where that moves no shard more.
func (p *shardPlan) placeOrphans(settled bool) {
	for shard, o := range p.owners {
		if o.node != "" {
			continue
		}
		m := p.best(func(m *planMember) bool { return len(m.owned) < m.most }, p.gap)
		if m == nil {
			return
		}
		if home := p.byID[o.home]; settled && home != nil && p.mayTake(home) && (p.under(home) || !p.under(m)) {
			m = home
		}
		p.give(shard, m)
		if settled || o.home == "" {
			p.owners[shard].home = m.id
		}
	}
}

// balance moves shards until no member is more than one away from its share. Of the moves that are equal for that,
// those come first by which shards come home.
func (p *shardPlan) balance() {
	for {
		over, under := p.any(p.over), p.any(p.under)
		mayGive, mayTake := p.maySpare, p.mayTake
		if over {
			mayGive = p.over
		}
		if under {
			mayTake = p.under
		}
		if !over && !under {
			return
		}
		from, to, shard := p.nextMove(mayGive, mayTake)
		if from == nil { // nobody may take more
			p.dropExcess()
			return
		}
		from.owned = slices.DeleteFunc(from.owned, func(s int) bool { return s == shard })
		p.give(shard, to)
		p.owners[shard].home = to.id
	}
}

// nextMove returns a move from one of the members that may give a shard to one of those that may take one; nil if there
// is none. A shard that comes home is best, then one that is not at home, and then one of the member that has most
// beyond its share.
func (p *shardPlan) nextMove(mayGive, mayTake func(*planMember) bool) (from, to *planMember, shard int) {
	most := p.best(mayTake, p.gap)
	if most == nil {
		return nil, nil, 0
	}
	rank := -1
	for i := range p.members {
		m := &p.members[i]
		if !mayGive(m) {
			continue
		}
		for _, s := range m.owned {
			r, taker := 0, most
			if home := p.byID[p.owners[s].home]; home != m {
				r = 1
				if home != nil && mayTake(home) {
					r, taker = 2, home
				}
			}
			if r > rank || r == rank && p.gap(m) < p.gap(from) {
				rank, from, to, shard = r, m, taker, s
			}
		}
	}
	return from, to, shard
}

// any reports whether a function accepts a member.
func (p *shardPlan) any(accepts func(*planMember) bool) bool {
	return p.best(accepts, p.gap) != nil
}

// dropExcess takes from members what is more than the most that they take, where nobody else may take it.
func (p *shardPlan) dropExcess() {
	for i := range p.members {
		m := &p.members[i]
		for len(m.owned) > m.most {
			last := len(m.owned) - 1
			p.owners[m.owned[last]].node, m.owned = "", m.owned[:last]
		}
	}
}

// give makes a member the owner of a shard.
func (p *shardPlan) give(shard int, m *planMember) {
	p.owners[shard].node = m.node
	m.owned = append(m.owned, shard)
}

// best returns the first of the members for which a function returns the most, among those that another one accepts;
// nil if there is none.
func (p *shardPlan) best(accepts func(*planMember) bool, of func(*planMember) int64) (best *planMember) {
	for i := range p.members {
		if m := &p.members[i]; accepts(m) && (best == nil || of(m) > of(best)) {
			best = m
		}
	}
	return best
}
