package why

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// What a member's log says of its shards. The term of each shard is that of a machine of its own, so that all else is
// as of a lock that the member holds.

// shardOf returns the machine of a shard of a member.
func (l *Log) shardOf(member events.ID, shard int, node string) events.ID {
	id := events.ID(fmt.Sprintf("%s/%d", member, shard))
	if l.machines[id] == nil {
		m := *l.machineOf(member)
		if m.path == "" { // it was opened before the log begins
			m.path = dirOf(dirOf(node))
		}
		m.recipe, m.shard, m.member = shardRecipe, shard+1, member
		l.machines[id] = &m
	}
	return id
}

// ownShard notes that a member owns a shard from now on. It returns false if it cannot read that.
func (l *Log) ownShard(r events.Record, n events.Notify) bool {
	if recipeOf(r.Machine) != shardRecipe {
		return true // a queue's item
	}
	if n.Path == "" || n.Token == 0 || n.Work == 0 {
		return false
	}
	node := l.kept(n.Path)
	r.Machine = l.shardOf(r.Machine, int(n.Work)-1, node)
	for _, t := range l.open[r.Machine] { // it ended in a gap
		t.Stopped, t.StoppedAt = r.Seq, r.Event.At
	}
	delete(l.open, r.Machine)
	l.begin(r, node, n.Token)
	l.workBegan(r)
	return true
}

// disownShard notes that a member does not own a shard any more. It returns false if it cannot read that.
func (l *Log) disownShard(r events.Record, n events.Notify) bool {
	if recipeOf(r.Machine) != shardRecipe {
		return true
	}
	if n.Path == "" || n.Work == 0 {
		return false
	}
	r.Machine = l.shardOf(r.Machine, int(n.Work)-1, n.Path)
	if open := l.open[r.Machine]; len(open) > 0 {
		n.Token, n.Path = open[0].Token, open[0].Node
		l.end(r, n)
		return true
	}
	l.truncated[r.Machine] = &truncatedTerm{at: max(r.Event.At, l.session.deadline), node: n.Path, shard: int(n.Work)}
	return true
}

// shardReturned notes that the work on a shard has returned, and reports whether a record is about that.
func (l *Log) shardReturned(r events.Record) bool {
	if recipeOf(r.Machine) != shardRecipe || r.Event.Work == 0 {
		return false
	}
	id := events.ID(fmt.Sprintf("%s/%d", r.Machine, r.Event.Work-1))
	if l.machines[id] != nil {
		r.Machine = id
		l.workReturned(r)
	}
	return true
}

// askPlan notes an assignment that a member is to write.
func (l *Log) askPlan(r events.Record, e events.Multi) {
	for _, op := range e.Ops {
		if recipeOf(r.Machine) == shardRecipe && op.Verb != "check" && isAssignment(op.Path) {
			p := plan{path: dirOf(op.Path), by: r.Machine}
			if op.Verb == "set" {
				p.version = op.Version + 1
			}
			if p.read(op.Data) {
				l.plansAsked[timerKey{r.Machine, e.Request}] = p
			}
		}
	}
}

// answerPlan notes what became of it.
func (l *Log) answerPlan(r events.Record, done bool) {
	key := timerKey{r.Machine, r.Event.Request}
	if p, asked := l.plansAsked[key]; asked && done {
		p.zxid, p.seq, p.at = r.Event.Zxid, r.Seq, r.Event.At
		l.plans = append(l.plans, p)
	}
	delete(l.plansAsked, key)
}

// readPlan notes an assignment that a member has read.
func (l *Log) readPlan(r events.Record) {
	ev := r.Event
	if recipeOf(r.Machine) != shardRecipe || ev.Code != events.OK || ev.Stat == nil || !isAssignment(ev.Path) {
		return
	}
	p := plan{path: dirOf(ev.Path), zxid: ev.Stat.Mzxid, version: ev.Stat.Version, seq: r.Seq, at: ev.At}
	known := slices.ContainsFunc(l.plans, func(o plan) bool { return o.zxid == p.zxid && o.path == p.path })
	if !known && p.read(ev.Data) {
		l.plans = append(l.plans, p)
	}
}

// read reads what an assignment says. It returns false if it cannot.
func (p *plan) read(data []byte) bool {
	said, err := machines.ParseShardPlan(data)
	p.shards, p.owners, p.ids = said.Shards, said.Owners, said.IDs
	return err == nil
}

// isAssignment reports whether a path is that of a group's assignment.
func isAssignment(node string) bool { return node == machines.ShardAssignment(dirOf(node)) }

// noteHealth notes when a member becomes unhealthy, or healthy again.
func (l *Log) noteHealth(r events.Record, n events.Notify) {
	if recipeOf(r.Machine) == shardRecipe && (n.What == events.Recovered || n.Code == events.Unhealthy) {
		l.health = append(l.health, healthNote{r.Seq, r.Machine, n.What == events.Failed})
	}
}

// unhealthy reports whether the member of a term was unhealthy when that ended.
func (t *Term) unhealthy() (is bool) {
	for _, n := range t.Log.health {
		if n.machine == t.machine().member && n.seq <= t.Stopped {
			is = n.unhealthy
		}
	}
	return is
}
