package sim

import (
	"slices"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// nodeHistory has all states of one node in the committed history.
type nodeHistory struct {
	path   string
	states []nodeState
}

// nodeState is one state of a node, or its absence.
type nodeState struct {
	stat       *events.Stat // nil if there is no node
	data       string
	hidden     bool  // nobody may read it
	since      int64 // by the world's clock
	zxid       int64 // the transaction that made it so
	generation int   // the ensemble's generation
}

// historyOf returns the history of a node, and begins one if there is none.
func (k *checks) historyOf(path string) *nodeHistory {
	i := slices.IndexFunc(k.histories, func(c *nodeHistory) bool { return c.path == path })
	if i < 0 {
		k.histories = append(k.histories, &nodeHistory{path, []nodeState{k.w.stateOf(path)}})
		i = len(k.histories) - 1
	}
	return k.histories[i]
}

// stateOf returns what a node is now.
func (w *harness) stateOf(path string) nodeState {
	now := nodeState{since: w.Now(), zxid: w.ens.Committed().Zxid(), generation: w.ens.Generation()}
	if data, stat, err := w.ens.Committed().Get(path); err == nil {
		now.stat, now.data = world.Stat(stat), string(data)
		now.hidden = w.ens.Committed().Allowed(path, zkmem.PermRead, nil) != nil
	}
	return now
}

// number returns the version of a node's data, 0 if there is no node.
func (v nodeState) number() int32 {
	if v.stat == nil {
		return 0
	}
	return v.stat.Version
}

// update adds the present state, if it is another one.
func (c *nodeHistory) update(w *harness) {
	now := w.stateOf(c.path)
	if last := c.last(); !last.matches(now.stat) || last.data != now.data || last.hidden != now.hidden ||
		last.generation != now.generation {
		c.states = append(c.states, now)
	}
}

// wrote returns the state that a transaction made, and whether there is one.
func (c *nodeHistory) wrote(zxid int64) (nodeState, bool) {
	i := slices.IndexFunc(c.states, func(v nodeState) bool {
		return v.zxid == zxid && v.generation == c.last().generation
	})
	return c.states[max(i, 0)], i >= 0
}

// last returns the present state.
func (c *nodeHistory) last() nodeState { return c.states[len(c.states)-1] }

// matches reports whether a reply with this stat tells of the state.
func (v nodeState) matches(stat *events.Stat) bool {
	if v.stat == nil || stat == nil {
		return v.stat == stat
	}
	return v.stat.Czxid == stat.Czxid && v.stat.Mzxid == stat.Mzxid && v.stat.Mtime == stat.Mtime &&
		v.stat.Version == stat.Version
}

// find returns the index of the first state from an index on that matches, -1 for none.
func (c *nodeHistory) find(from int, stat *events.Stat) int {
	return c.findWhere(from, func(v nodeState) bool { return v.matches(stat) })
}

func (c *nodeHistory) findWhere(from int, holds func(nodeState) bool) int {
	i := slices.IndexFunc(c.states[from:], holds)
	if i < 0 {
		return -1
	}
	return from + i
}

// indexAt returns the index of the state at a zxid of the present generation.
func (c *nodeHistory) indexAt(zxid int64) int {
	for i := len(c.states) - 1; i > 0; i-- {
		if c.states[i].zxid <= zxid || c.states[i].generation < c.last().generation {
			return i
		}
	}
	return 0
}

// statesSince returns the states in which the node was at some moment since a time.
func (c *nodeHistory) statesSince(since int64) []nodeState {
	i := len(c.states) - 1
	for i > 0 && c.states[i].since >= since {
		i--
	}
	return c.states[i:]
}

// wasMissing reports whether the node was away at some moment since a time.
func (c *nodeHistory) wasMissing(since int64) bool {
	return slices.ContainsFunc(c.statesSince(since), func(v nodeState) bool { return v.stat == nil })
}

// existed reports whether the node existed at some moment since a time.
func (c *nodeHistory) existed(since int64) bool {
	return slices.ContainsFunc(c.statesSince(since), func(v nodeState) bool { return v.stat != nil })
}
