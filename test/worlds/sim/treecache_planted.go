package sim

import (
	"reflect"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

func inTree(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "treecache: " + name, Shape: inDir(treePath), Mutations: inOne("treecache", m)}
}

// treeAction returns a plant in one action.
func treeAction(name, action string, wrong acting) Plant {
	return inTree(name, func() mutate.Mutation { return mutate.Mutation{Actions: map[string]acting{action: wrong}} })
}

// treeTells returns a plant that changes or drops what a cache tells.
func treeTells(name string, change func(n *events.Notify) bool) Plant {
	return Plant{Name: "treecache: " + name, Shape: inDir(treePath),
		Stepped: effectsOf("treecache", func(e events.Effect) events.Effect {
			if n, ok := e.(events.Notify); ok {
				if !change(&n) {
					return nil
				}
				return n
			}
			return e
		})}
}

// treeAsks returns a plant that changes or drops what a cache asks for.
func treeAsks(name string, change func(e events.Effect) events.Effect) Plant {
	return Plant{Name: "treecache: " + name, Shape: inDir(treePath), Stepped: effectsOf("treecache", change)}
}

var plantedTrees = []Plant{
	treeAction("a change of children is ignored", "noteWatch", ignoring(events.WatchChildren)),
	treeAction("a change is not looked at", "noteWatch", ignoring(events.WatchChanged)),
	treeAction("another node at the path is taken for the first", "noteWatch", ignoring(events.WatchDeleted)),
	treeAsks("a node is read without a watch", func(e events.Effect) events.Effect {
		if get, ok := e.(events.Get); ok {
			get.Watch = false
			return get
		}
		return e
	}),
	treeAsks("a directory is listed without a watch", func(e events.Effect) events.Effect {
		if c, ok := e.(events.Children); ok {
			c.Watch = false
			return c
		}
		return e
	}),
	{Name: "treecache: a change while the tree is being read is forgotten", Shape: inDir(treePath),
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			return u == nil || u.role.recipe != "treecache" || ev.Kind != events.WatchChanged ||
				c.Engine().State(id) != "reading"
		}},
	treeAction("after an outage only the top is read", "renew",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			do(ev)
			shorten(model, "due", 0, 1)
		}),
	treeAction("what a failure hit stays unread", "keepDue",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			do(ev)
			shorten(model, "due", 1, length(model, "due"))
		}),
	treeAction("what is under way is not counted", "proceed",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			flying := slice(model, "inFlight")
			under := reflect.AppendSlice(reflect.MakeSlice(flying.Type(), 0, 0), flying)
			for length(model, "due") > 0 {
				flying.SetZero()
				do(ev)
				under = reflect.AppendSlice(under, flying)
			}
			flying.Set(under)
			do(ev)
		}),
	treeAction("all is read, it says, with answers under way", "proceed",
		func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			do(ev)
			if length(model, "due") == 0 && length(model, "inFlight") > 0 {
				out.Tell(events.ID(*field[string](model, "id")), events.Event{Kind: events.TreeRead})
			}
		}),
	treeAction("a ready tree is told ready again", "settle",
		func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			*field[bool](model, "told") = false
			do(ev)
		}),
	inTree("a failure that passes is taken for a refusal", func() mutate.Mutation {
		return withGuard("blocksAll", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) && ev.Path == treePath
		})
	}),
	inTree("there may be more nodes than there may", func() mutate.Mutation { return withGuard("overflows", never) }),
	inTree("any directory is too large", func() mutate.Mutation { return withGuard("overflows", always) }),
	treeTells("what is gone is not told", func(n *events.Notify) bool { return n.What != events.Absent }),
	treeTells("only the end of the top is told", func(n *events.Notify) bool {
		return n.What != events.Absent || n.Path == treePath
	}),
	treeTells("what cannot be read is not there", func(n *events.Notify) bool {
		return n.What != events.Present || n.Code == events.OK
	}),
	treeTells("a change of data is silent", func(n *events.Notify) bool {
		n.Silent = n.Silent || n.What == events.Present && n.Work > 9
		return true
	}),
	treeTells("what is as it was is told as a change", func(n *events.Notify) bool {
		n.Silent = false
		return true
	}),
	treeTells("an earlier read is told", func(n *events.Notify) bool {
		if n.What == events.Present && n.Work > 1 {
			n.Work--
		}
		return true
	}),
	treeTells("the beginning of an outage is not told", func(n *events.Notify) bool { return n.What != events.Stale }),
	treeTells("ready does not tell of the outage", func(n *events.Notify) bool {
		if n.What == events.Settled {
			n.Code = events.OK
		}
		return true
	}),
}
