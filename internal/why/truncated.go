package why

import (
	"encoding/json"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// takeCheckpoint notes which machines lead behind a gap: a leader may have no record of its own there.
func (l *Log) takeCheckpoint(c events.Checkpoint) {
	var state struct {
		Machines []struct {
			Machine struct {
				ID    events.ID `json:"id"`
				State string    `json:"state"`
			} `json:"machine"`
			Model json.RawMessage `json:"model"`
		} `json:"machines"`
	}
	if !l.session.afterGap || json.Unmarshal(c.State, &state) != nil { // a replay tells what is wrong with it
		return
	}
	for _, one := range state.Machines {
		if recipeOf(one.Machine.ID) == shardRecipe {
			l.takeShards(one.Machine.ID, one.Model)
		}
		m := one.Machine
		if l.class(m.ID, m.State) == events.ClassLeading && len(l.open[m.ID]) == 0 && l.truncated[m.ID] == nil {
			l.truncated[m.ID] = &truncatedTerm{at: max(l.last, l.Header.StartAt, l.session.deadline), goes: true}
		}
	}
}

// addTruncated notes that a machine leads whose term is not known.
func (l *Log) addTruncated(r events.Record) {
	h := l.truncated[r.Machine]
	if h == nil {
		h = &truncatedTerm{}
		l.truncated[r.Machine] = h
	}
	h.goes = l.class(r.Machine, r.To) == events.ClassLeading
	h.at = max(r.Event.At, r.Event.ValidUntil, l.session.deadline)
	for _, effect := range r.Effects {
		if n, is := effect.(events.Notify); is && n.What == events.Stopped {
			h.node = n.Path
		}
	}
}

// noteAbsent notes between which numbers of a listing it has no node.
func (l *Log) noteAbsent(dir string, children []string) {
	var orders []int64
	for _, name := range children {
		if n := orderOf(name); n >= 0 {
			orders = append(orders, n)
		}
	}
	slices.Sort(orders)
	for i := 1; i < len(orders); i++ {
		span := [2]int64{orders[i-1], orders[i]}
		if all := l.absent[dir]; span[1]-span[0] > 1 && (len(all) == 0 || all[len(all)-1] != span) {
			if l.absent == nil {
				l.absent = map[string][][2]int64{}
			}
			l.absent[dir] = append(all, span)
		}
	}
}

// takeShards notes which shards a member owns behind a gap, by what a checkpoint has of its machine.
func (l *Log) takeShards(member events.ID, model json.RawMessage) {
	var m struct {
		Own  string `json:"own"`
		Held []struct {
			Run int `json:"run"`
		} `json:"held"`
	}
	if json.Unmarshal(model, &m) != nil || m.Own == "" {
		return
	}
	for shard, held := range m.Held {
		id := l.shardOf(member, shard, m.Own)
		if held.Run == shardRuns && len(l.open[id]) == 0 && l.truncated[id] == nil {
			l.truncated[id] = &truncatedTerm{at: max(l.last, l.Header.StartAt, l.session.deadline),
				node: m.Own, goes: true,
				shard: shard + 1}
		}
	}
}

// shardRuns is what a checkpoint has of a shard whose work may run.
const shardRuns = 1
