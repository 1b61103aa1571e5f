package why

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// What happens to many shards at once is said and drawn once.

// shardMove is a move of one or several shards: between the same members, by the same records.
type shardMove struct {
	Move
	shards machines.ShardSet
}

// merged returns moves, with one for those of shards that have the same story.
func merged(moves []Move) (all []shardMove) {
	type key struct {
		path             string
		from, to         *Log
		member, next     events.ID
		elected, stopped uint64
		token, nextToken int64
		cause            Cause
	}
	at := map[key]int{}
	for _, m := range moves {
		if m.shard() == 0 {
			all = append(all, shardMove{Move: m})
			continue
		}
		k := key{path: m.Path, cause: m.Ending.Cause}
		if t := m.From; t != nil {
			k.from, k.member, k.stopped, k.token = t.Log, t.machine().member, t.Stopped, t.Token
		}
		if t := m.To; t != nil {
			k.to, k.next, k.elected, k.nextToken = t.Log, t.machine().member, t.Elected, t.Token
		}
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, shardMove{Move: m})
		}
		one := &all[i]
		if m.From != nil && m.From.workDoneAt > one.From.workDoneAt { // for which the next had to wait
			one.Move = m
		}
		one.shards = append(one.shards, m.shard()-1)
	}
	for _, one := range all {
		slices.Sort(one.shards)
	}
	return all
}

// name names the line of a move, and its shards.
func (m shardMove) name() string {
	if len(m.shards) == 0 {
		return m.Path
	}
	return m.Path + " " + shardsText(m.shards)
}

// laneTerm is what a lane has of a term, or of the terms of several shards with one beginning and one end.
type laneTerm struct {
	*Term
	machine events.ID
	dir     string
	what    string
	shards  machines.ShardSet
	terms   []*Term
}

// inOneLane returns what the lanes of a client have of its terms. Those of a member's shards share one.
func inOneLane(terms []*Term) (all []laneTerm) {
	type key struct {
		member           events.ID
		elected, stopped uint64
		token            int64
	}
	at := map[key]int{}
	for _, t := range terms {
		m := t.machine()
		if m.shard == 0 {
			all = append(all, laneTerm{t, t.Machine, t.Dir, "token " + itoa(t.Token), nil, []*Term{t}})
			continue
		}
		k := key{m.member, t.Elected, t.Stopped, t.Token}
		i, known := at[k]
		if !known {
			i = len(all)
			at[k] = i
			all = append(all, laneTerm{Term: t, machine: m.member, dir: t.group()})
		}
		one := &all[i]
		if t.workDoneAt > one.workDoneAt {
			one.Term = t
		}
		one.shards, one.terms = append(one.shards, m.shard-1), append(one.terms, t)
	}
	for i := range all {
		if one := &all[i]; len(one.shards) > 0 {
			slices.Sort(one.shards)
			one.what = shardsText(one.shards) + ", token " + itoa(one.Token)
		}
	}
	return all
}
