package why

import (
	"cmp"
	"maps"
	"slices"

	"github.com/incumbent-go/incumbent/machines"
)

// What all logs together say of the assignments of shards.

// plansOf returns the assignments of a group that the logs have, in their order.
func (h *history) plansOf(group string) []*groupPlan {
	if all, known := h.plans[group]; known {
		return all
	}
	var all []*groupPlan
	for _, l := range h.logs {
		for _, p := range l.plans {
			if p.path == group {
				all = append(all, &groupPlan{plan: p, log: l})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *groupPlan) int {
		if a.zxid == b.zxid && (a.by == "") != (b.by == "") {
			return cmp.Compare(len(b.by), len(a.by)) // the writer knows best
		}
		return cmp.Compare(a.zxid, b.zxid)
	})
	all = slices.CompactFunc(all, func(a, b *groupPlan) bool { return a.zxid == b.zxid })
	for i, p := range all[min(1, len(all)):] {
		p.before = all[i]
	}
	if h.plans == nil {
		h.plans = map[string][]*groupPlan{}
	}
	h.plans[group] = all
	return all
}

// writer names the member that wrote an assignment; "" if no log shows who did.
func (p *groupPlan) writer() string {
	if p.by == "" {
		return ""
	}
	return p.log.nameOf(p.by)
}

// gives returns the node that a shard is assigned to, "" for none.
func (p *groupPlan) gives(shard int) string {
	for _, node := range slices.Sorted(maps.Keys(p.owners)) {
		if p.owners[node].Has(shard) {
			return node
		}
	}
	return ""
}

// name returns the id of the member with a node.
func (p *groupPlan) name(node string) string {
	if id := p.ids[node]; id != "" {
		return quoteID(id)
	}
	return shortNode(node)
}

// afterDeletion reports whether somebody had deleted the assignment before.
func (p *groupPlan) afterDeletion() bool { return p.version == 0 && p.before != nil }

// group returns the path of a shard's group.
func (t *Term) group() string { return dirOf(t.Dir) }

// takenBy returns the assignment by which the member of a term gave up a shard, as it had read it; nil for none.
func (h *history) takenBy(t *Term) *groupPlan {
	var last *plan
	for i := range t.Log.plans {
		if p := &t.Log.plans[i]; p.path == t.group() && p.seq <= t.Stopped && (last == nil || p.zxid > last.zxid) {
			last = p
		}
	}
	if last == nil {
		return nil
	}
	return h.planAt(t.group(), last.zxid)
}

// planAt returns the assignment that a transaction wrote.
func (h *history) planAt(group string, zxid int64) *groupPlan {
	all := h.plansOf(group)
	i, _ := slices.BinarySearchFunc(all, zxid, func(p *groupPlan, z int64) int { return cmp.Compare(p.zxid, z) })
	return all[i]
}

// givenBy returns the first assignment that gives a term's shard to its member without another in between; nil if the
// logs have none.
func (h *history) givenBy(t *Term) (first *groupPlan) {
	node, shard := baseOf(t.Node), t.machine().shard-1
	all := h.plansOf(t.group())
	i, _ := slices.BinarySearchFunc(all, t.Token, func(p *groupPlan, z int64) int { return cmp.Compare(p.zxid, z) })
	for i--; i >= 0 && all[i].gives(shard) == node; i-- {
		first = all[i]
	}
	return first
}

// strangeOwners returns the members without a log that an assignment gives a shard to, those whose logs end while it is
// theirs, and, if there are members without a log, the places of assignments that no log has.
func (h *history) strangeOwners(n *line) (all []stranger) {
	unknown, plans := !h.hasAllMembers(n.path), h.plansOf(n.path)
	for i, p := range plans {
		until := int64(endless)
		if i+1 < len(plans) {
			until = plans[i+1].zxid
		}
		node := p.gives(n.shard - 1)
		path := inDir(n.dir, node)
		s := stranger{label: "member " + p.name(node), path: path, order: p.zxid, by: Ref{p.log.Name, p.seq}}
		switch {
		case node == "":
		case !h.created(path):
			all = append(all, s)
		default:
			l, dead := h.mayOwnLater(path, until)
			if dead {
				n.dead = l
			} else if l != nil {
				s.log, s.from, s.by = l, l.last, Ref{l.Name, l.lastSeq}
				s.order = n.lastToken(path, p.zxid, until)
				all = append(all, s)
			}
		}
		if b := p.before; unknown && b != nil && p.version != b.version+1 {
			all = append(all, stranger{label: "a member", order: p.zxid - 1, by: Ref{p.log.Name, p.seq}})
		}
	}
	slices.SortStableFunc(all, func(a, b stranger) int { return cmp.Compare(a.order, b.order) })
	return all
}

// lastToken returns the token of the last term of a member in a time, from if there is none.
func (n *line) lastToken(node string, from, until int64) int64 {
	for _, t := range n.terms {
		if t.Node == node && t.Token > from && t.Token < until {
			from = t.Token
		}
	}
	return from
}

// mayOwnLater returns the log of a member that ends before the member can have seen a transaction, nil for none, and
// whether the member seems to have died with it.
func (h *history) mayOwnLater(node string, zxid int64) (l *Log, dead bool) {
	for _, l := range h.logs {
		own := l.nodes[node]
		if own == nil || own.session == nil || !l.leaves(own) || l.endedNodes()[node] || h.sawUpTo(l) >= zxid {
			continue
		}
		as := &Term{Log: l, Recipe: shardRecipe, Machine: own.machine, Node: node, ElectedAt: own.at,
			Session: own.session.number}
		return l, l.Damage == "" && h.wasSeenGone(node) && h.livedOn(as, nil) == ""
	}
	return nil, false
}

// sawUpTo returns the last transaction that a client has seen.
func (h *history) sawUpTo(l *Log) int64 {
	if all := h.highest[l]; len(all) > 0 {
		return all[len(all)-1]
	}
	return 0
}

// created reports whether a log shows that its client created a node.
func (h *history) created(node string) bool {
	return slices.ContainsFunc(h.logs, func(l *Log) bool { return l.nodes[node] != nil })
}

// hasAllMembers reports whether the logs of all members are here that the logs show: what none of them wrote, nobody
// wrote who is a member.
func (h *history) hasAllMembers(group string) bool {
	dir := machines.ShardMembers(group)
	for _, p := range h.plansOf(group) {
		for node := range p.ids {
			if !h.created(inDir(dir, node)) {
				return false
			}
		}
	}
	return !slices.ContainsFunc(h.logs, func(l *Log) bool {
		for _, in := range []string{dir, machines.ShardWriters(group)} {
			for node := range l.seen[in] {
				if !h.created(inDir(in, node)) {
					return true
				}
			}
		}
		return false
	})
}
