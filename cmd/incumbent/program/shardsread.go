package program

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/machines"
)

// shardGroup is what the nodes of a group of Shards say.
type shardGroup struct {
	path    string
	missing bool
	foreign int            // children that belong to no member, and not to the group
	writers incumbent.Line // who may write the assignment: the first does

	plan      machines.ShardPlan
	written   bool  // there is an assignment
	trouble   error // why it cannot be read
	writtenAt time.Time

	members []memberState // by id and node
}

// memberState is a member's node.
type memberState struct {
	machines.ShardMember
	node string
	stat incumbent.Stat
	err  error // why it cannot be read
}

// readShards reads a group.
func readShards(ctx context.Context, client *incumbent.Client, dir string) (*shardGroup, error) {
	g := &shardGroup{path: dir}
	children, err := client.Children(g.path).Do(ctx)
	if errors.Is(err, incumbent.ErrNoNode) {
		g.missing = true
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	own := []string{machines.ShardMembers(""), machines.ShardAssignment(""), machines.ShardWriters("")}
	for _, name := range children {
		if !slices.Contains(own, "/"+name) {
			g.foreign++
		}
	}
	node, err := client.Get(machines.ShardAssignment(g.path)).Do(ctx)
	switch {
	case err == nil:
		g.written, g.writtenAt = true, node.Stat.Mtime
		g.plan, g.trouble = machines.ParseShardPlan(node.Data)
	case !errors.Is(err, incumbent.ErrNoNode):
		return nil, err
	}
	names, err := client.Children(machines.ShardMembers(g.path)).Do(ctx)
	if err != nil && !errors.Is(err, incumbent.ErrNoNode) {
		return nil, err
	}
	members := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !machines.IsShardMember(name) })
	g.foreign += len(names) - len(members)
	found, errs := make([]*memberState, len(members)), make([]error, len(members))
	var reads sync.WaitGroup
	for i, name := range members {
		reads.Go(func() { found[i], errs[i] = readMember(ctx, client, machines.ShardMembers(g.path), name) })
	}
	reads.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	for _, m := range found {
		if m != nil {
			g.members = append(g.members, *m)
		}
	}
	slices.SortFunc(g.members, func(x, y memberState) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.node, y.node))
	})
	return g, nil
}

// readMember returns nil for a node that was deleted meanwhile.
func readMember(ctx context.Context, client *incumbent.Client, dir, name string) (*memberState, error) {
	m := &memberState{node: name}
	node, err := client.Get(dir + "/" + name).Do(ctx)
	var refused *incumbent.Error
	switch {
	case err == nil:
		m.stat = node.Stat
		m.ShardMember, m.err = machines.ParseShardMember(node.Data)
	case errors.Is(err, incumbent.ErrNoNode):
		return nil, nil
	case !errors.As(err, &refused) || refused.Code.Transient():
		return nil, err
	default:
		m.err = err
	}
	if m.err != nil {
		m.ShardMember = machines.ShardMember{}
	}
	return m, nil
}

// States of a shard, as --json has them.
const (
	shardOwned    = "owned"    // by the member that it is assigned to
	shardMoving   = "moving"   // another member may still own it
	shardClaiming = "claiming" // nobody owns it; the member that it is assigned to has not claimed it yet
	shardGone     = "gone"     // nobody owns it; the member that it is assigned to is gone
	shardLeaving  = "leaving"  // a member owns it, and it is assigned to nobody
	shardFree     = "free"     // nobody owns it, and it is assigned to nobody
	shardTwice    = "twice"    // two nodes say that they own it: no member writes that
)

// shardState is one shard: the names of the nodes that it is between.
type shardState struct{ state, owner, assigned string }

// states returns the state of each shard of the assignment.
func (g *shardGroup) states() []shardState {
	if g.trouble != nil || !g.written {
		return nil
	}
	all := make([]shardState, g.plan.Shards)
	for shard, assigned := range g.plan.Assigned() {
		all[shard] = shardState{shardFree, "", assigned}
	}
	for _, m := range g.members {
		may := m.Owns
		if m.err != nil {
			may = g.plan.Leaving[m.node]
		}
		for _, shard := range may {
			if shard >= len(all) {
				continue
			}
			if one := &all[shard]; one.owner == "" {
				one.owner = m.node
			} else {
				one.state = shardTwice
			}
		}
	}
	for shard := range all {
		switch one := &all[shard]; {
		case one.state == shardTwice:
		case one.owner != "" && one.owner == one.assigned:
			one.state = shardOwned
		case one.owner != "" && one.assigned != "":
			one.state = shardMoving
		case one.owner != "":
			one.state = shardLeaving
		case one.assigned != "" && g.member(one.assigned) == nil:
			one.state = shardGone
		case one.assigned != "":
			one.state = shardClaiming
		}
	}
	return all
}

// member returns the member that has a node.
func (g *shardGroup) member(node string) *memberState {
	for i := range g.members {
		if g.members[i].node == node {
			return &g.members[i]
		}
	}
	return nil
}

// id returns the id of the member that has a node, or had it.
func (g *shardGroup) id(node string) string {
	if m := g.member(node); m != nil && m.err == nil {
		return m.ID
	}
	return g.plan.IDs[node]
}

// replaced reports whether a newer member has the same id, so that this one gets no shards.
func (g *shardGroup) replaced(m memberState) bool {
	return slices.ContainsFunc(g.members, func(o memberState) bool {
		return m.err == nil && o.err == nil && o.ID == m.ID && o.stat.Czxid > m.stat.Czxid
	})
}

// beyond returns the shards that a member's node has, and the assignment has not.
func (g *shardGroup) beyond(m memberState) machines.ShardSet {
	if !g.written || g.trouble != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(m.Owns), func(shard int) bool { return shard < g.plan.Shards })
}
