package machines

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// shardPlanner is what a member knows of the assignment, and of the other members if it is elected to write that.
type shardPlanner struct {
	shardNode
	sublatch // in the line of those that may write the assignment

	settle      time.Duration
	plan        ShardPlan
	planned     bool   // there is an assignment
	unread      string // why it cannot be read; "": it was
	members     string // who may own shards, as read last
	changedAt   int64  // since when
	latchFailed bool   // what the handle shows is the latch's failure
}

// notePlan notes the assignment.
func (p *shardPlanner) notePlan(v viewedNode) {
	p.plan, p.planned, p.unread = ShardPlan{}, v.exists, ""
	if v.exists {
		var err error
		if p.plan, err = ParseShardPlan([]byte(v.data)); err != nil {
			p.unread = v.look.path + ": " + err.Error()
		}
	}
}

// isSettled reports whether the members have been the same for long enough to move shards of members.
func (p *shardPlanner) isSettled(ev events.Event) bool {
	return time.Duration(ev.At-p.changedAt) >= p.settle
}

// beginWriting notes that this member is elected to write the assignment. It does not know how long the members have
// been the same.
func (p *shardPlanner) beginWriting(ev events.Event, out *engine.Outbox) {
	p.noteHeld(ev, out)
	p.latchFailed = false
	p.members, p.changedAt = "", ev.At
}

// takeLatchFailure reports the latch's failure as the own one. If it has no code, it has passed.
func (p *shardPlanner) takeLatchFailure(ev events.Event, out *engine.Outbox) {
	p.latchFailed = ev.Code != events.OK
	if p.latchFailed {
		p.reportFailure(ev.Code, ev.Text, ev, out)
	} else if !p.unhealthy() {
		p.clearFailure(out)
	}
}

// listed returns the members' nodes, sorted.
func (p *shardPlanner) listed() []string {
	names := slices.DeleteFunc(slices.Clone(p.view.at(ShardMembers(p.path), jobNames).names), func(name string) bool {
		return !IsShardMember(name)
	})
	slices.Sort(names)
	return names
}

// seenMember is a member as its node was read.
type seenMember struct {
	ShardMember
	node   string
	czxid  int64
	err    error // its data cannot be read
	hidden bool  // because that is refused
}

// seen returns the members that exist. A node without a session is none: nobody would work on its shards.
func (p *shardPlanner) seen() (all []seenMember) {
	for _, node := range p.listed() {
		v := p.view.at(p.member(node), jobData)
		switch {
		case v.refused != events.OK:
			all = append(all, seenMember{node: node, err: errors.New(string(v.refused)), hidden: true})
		case v.exists && v.owner != 0:
			m, err := ParseShardMember([]byte(v.data))
			all = append(all, seenMember{ShardMember: m, node: node, czxid: v.czxid, err: err})
		}
	}
	return all
}

// unreadable returns what is wrong with the members' nodes; "": nothing, or this member does not read them.
func (p *shardPlanner) unreadable() string {
	if p.latchNode == "" {
		return ""
	}
	for _, m := range p.seen() {
		if m.err != nil {
			return fmt.Sprintf("%s gets no shards: %s", p.member(m.node), m.err)
		}
	}
	return ""
}

// noteMembers notes when the members have changed.
func (p *shardPlanner) noteMembers(ev events.Event) {
	if p.latchNode == "" {
		return
	}
	var now strings.Builder
	for _, m := range p.seen() {
		fmt.Fprintf(&now, "%s %q %d %d %t\n", m.node, m.ID, m.Weight, m.MaxOwned, m.Unhealthy)
	}
	if now.String() != p.members {
		p.members, p.changedAt = now.String(), ev.At
	}
}

// nextPlan returns the assignment of n shards that there should be. Of two members with one id, the newer one gets
// shards.
func (p *shardPlanner) nextPlan(n int, settled bool) string {
	all := p.seen()
	var able []shardMember
	var present []string
	for _, m := range all {
		newer := func(o seenMember) bool { return o.ID == m.ID && o.czxid > m.czxid && o.err == nil }
		if m.err != nil || slices.ContainsFunc(all, newer) {
			continue
		}
		present = append(present, m.ID)
		if !m.Unhealthy {
			able = append(able, shardMember{m.node, m.ID, m.Weight, m.MaxOwned})
		}
	}
	owners, homes := p.plan.Owners, p.plan.Homes
	if !p.planned { // somebody has deleted the assignment, or there was none: what is owned stays
		owners = map[string]ShardSet{}
		for _, m := range all {
			owners[m.node] = m.Owns
		}
	}
	before := make([]shardOwner, n)
	for shard, node := range byShard(owners, n) {
		before[shard].node = node
	}
	for shard, id := range byShard(homes, n) {
		before[shard].home = id
	}
	next := ShardPlan{Shards: n, Owners: map[string]ShardSet{}, IDs: map[string]string{},
		Leaving: map[string]ShardSet{},
		Homes:   map[string]ShardSet{}}
	for shard, o := range planShards(before, able, present, settled) {
		if o.node != "" {
			next.Owners[o.node] = append(next.Owners[o.node], shard)
		}
		if o.home != "" {
			next.Homes[o.home] = append(next.Homes[o.home], shard)
		}
		for _, m := range all {
			mayOwn := p.plan.Owners[m.node].Has(shard) || m.Owns.Has(shard) ||
				m.err != nil && p.plan.Leaving[m.node].Has(shard) || m.hidden && !p.planned
			if mayOwn && o.node != m.node {
				next.Leaving[m.node] = append(next.Leaving[m.node], shard)
			}
		}
	}
	for _, m := range all {
		if len(next.Owners[m.node]) > 0 || len(next.Leaving[m.node]) > 0 {
			next.IDs[m.node] = m.ID
		}
	}
	return next.encode()
}
