package small

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// ShardPlants are bugs of members that own shards, which a search has to find.
var ShardPlants = []Plant{
	{Name: "others' nodes do not count", Fed: func(c *client, ev *events.Event) bool {
		if ev.Kind == events.ReplyStat && ev.Code == events.OK && c.isOther(ev.Path) {
			before, _, _ := strings.Cut(string(ev.Data), `"owns":`)
			ev.Data = []byte(before + `"owns":""}`)
		}
		return true
	}},
	{Name: "a shard is given up under its work", Hurries: true},
	{Name: "nobody assigns", Kinds: []string{"kill"}, Asked: func(_ *client, e events.Effect) events.Effect {
		return without(e, "set")
	}},
	{Name: "a new assignment is not passed on", Fed: func(_ *client, ev *events.Event) bool {
		return ev.Kind != events.WatchChanged || ev.Path != machines.ShardAssignment(dir)
	}},
	{Name: "a claim does not check the assignment", Kinds: []string{unassign},
		Asked: func(_ *client, e events.Effect) events.Effect { return without(e, "check") }},
	{Name: "belief in a shard lasts half a timeout longer", Kinds: []string{"mute"}, Asked: lastingBelief},
}

// isOther reports whether a path is that of another member's node.
func (c *client) isOther(path string) bool {
	return strings.HasPrefix(path, machines.ShardMembers(dir)+"/") && path != c.ownMember()
}

// without returns a write without what it does to the assignment by this verb.
func without(e events.Effect, verb string) events.Effect {
	if m, ok := e.(events.Multi); ok {
		m.Ops = slices.DeleteFunc(slices.Clone(m.Ops), func(op events.Op) bool {
			return op.Verb == verb && op.Path == machines.ShardAssignment(dir)
		})
		return m
	}
	return e
}
