package machines

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
)

// trees changes what an action of a tree cache does.
func trees(name, action string, change func(t *treeCache, ev events.Event, out *engine.Outbox, do func(events.Event))) plant {
	return plant{name, "treecache", mutate.Mutation{Actions: map[string]func(any, events.Event, *engine.Outbox, func(events.Event)){
		action: func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			change(model.(*treeCache), ev, out, do)
		}}}}
}

// trunks changes a guard.
func trunks(name, guard string, change func(any, events.Event, func(events.Event) bool) bool) plant {
	return plant{name, "treecache", mutate.Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{guard: change}}}
}

var plantedTrees = []plant{
	trees("nobody looks who has come and gone", "mark", func(_ *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		if ev.Kind != events.WatchChildren {
			do(ev)
		}
	}),
	trees("a change while the node is being read is forgotten", "mark", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		if b := t.find(ev.Path); b == nil || b.self.request == 0 && b.below.request == 0 {
			do(ev)
		}
	}),
	trees("a watch that a deletion has spent is taken to stand", "mark", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		do(ev)
		if b := t.find(ev.Path); b != nil {
			b.deleted = false
		}
	}),
	trees("another node at the path keeps the children of the first", "take", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		b := t.about(ev)
		had := len(b.children) > 0
		do(ev)
		if had {
			b.below.due = false
			t.due = slices.DeleteFunc(t.due, func(l *look) bool { return l == &b.below })
		}
	}),
	trees("after an outage only the top is read", "renew", func(t *treeCache, ev events.Event, _ *engine.Outbox, _ func(events.Event)) {
		t.want(&t.root.self)
	}),
	trees("a server that lags behind is believed", "renew", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		t.seen = false
		do(ev)
		t.seen = true
	}),
	trees("what was under way at the end of a connection is waited for", "noteGap", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		flying := t.inFlight
		do(ev)
		t.inFlight = flying
	}),
	trees("all is read, it says, with answers under way", "proceed", func(t *treeCache, ev events.Event, out *engine.Outbox, do func(events.Event)) {
		do(ev)
		if len(t.due) == 0 && len(t.inFlight) > 0 {
			out.Tell(events.ID(t.id), events.Event{Kind: events.TreeRead})
		}
	}),
	trees("what is under way is not counted", "proceed", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		for len(t.due) > 0 {
			flying := t.inFlight
			t.inFlight = nil
			do(ev)
			t.inFlight = append(flying, t.inFlight...)
		}
		do(ev)
	}),
	trees("what is gone is not told", "enumerate", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		for kid, name := range t.about(ev).pairChildren(ev.Children) {
			if name == "" {
				kid.told = false
			}
		}
		do(ev)
	}),
	trees("with the top goes only the top", "clear", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		t.root.children = nil
		do(ev)
	}),
	trees("a failure that passes leaves what it hit unread", "keepDue", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		do(ev)
		t.due = t.due[1:]
	}),
	trees("a ready tree is told ready again", "settle", func(t *treeCache, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		t.told = false
		do(ev)
	}),
	trunks("a node that has left the cache comes back with a late answer", "nodeDropped", never),
	trunks("a failure that passes is taken for a refusal", "blocksAll", func(model any, ev events.Event, holds func(events.Event) bool) bool {
		return holds(ev) && model.(*treeCache).about(ev) == model.(*treeCache).root
	}),
}

// The walk must be able to fail.
func TestTreeCachesFindPlantedBugs(t *testing.T) {
	mustFind(t, plantedTrees, func(seed int64, p plant) string { return newGarden(seed, p).walk(1500) })
}
