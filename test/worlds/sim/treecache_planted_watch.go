package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// treePosted returns a plant that drops events on their way to a cache.
func treePosted(name string, keeps func(c *client, id events.ID, ev *events.Event) bool) Plant {
	return Plant{Name: "treecache: " + name, Shape: inDir(treePath),
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			return u == nil || u.role.recipe != "treecache" || keeps(c, id, ev)
		}}
}

// plantedTreeWatches are bugs with the recursive watch.
var plantedTreeWatches = []Plant{
	treePosted("a watch that takes the recursive one's place is not noticed",
		func(_ *client, _ events.ID, ev *events.Event) bool {
			return ev.Kind != events.WatchReplaced
		}),
	treeAction("a recursive watch is taken to outlast its connection", "noteGap",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			was := *field[bool](part(model, "treeWatch"), "set")
			do(ev)
			*field[bool](part(model, "treeWatch"), "set") = was
		}),
	treeAction("without a recursive watch no other is set", "doWithout",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			do(ev)
			*field[bool](part(model, "treeWatch"), "set") = true
		}),
	treeAction("what was created is not read", "noteExists", ignoring(events.WatchCreated)),
	treeAction("a change under the recursive watch is not looked at", "noteExists", ignoring(events.WatchChanged)),
	treeAction("a deletion under the recursive watch is not noted", "noteDeleted", ignoring(events.WatchDeleted)),
	treeAction("a node is taken to have no children", "noteData",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			if ev.Stat != nil {
				stat := *ev.Stat
				stat.NumChildren = 0
				ev.Stat = &stat
			}
			do(ev)
		}),
	treeAction("what is created below a node without children is not known", "noteData",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			node := treeReading(model)[ev.Request]
			do(ev)
			if ev.Stat != nil && ev.Stat.NumChildren == 0 && *field[bool](part(model, "treeWatch"), "set") {
				*field[bool](node, "listed") = false
			}
		}),
}
