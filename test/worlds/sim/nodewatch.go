package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// watchedDir is the directory of the node that programs watch.
const watchedDir = "/app/watched"

// nodeWatchRole is the role of the node watch. Its programs watch one node, while others
// create, write, delete and replace it. What they are told was true, in the order of the
// history, and an outage between two values is told. In a healed world the last value is true
// now.
var nodeWatchRole = &role{
	recipe:   "nodewatch",
	separate: true,
	dirs:     dirTraits{own: watchedDir, node: watchedDir + "/here"},
	handles:  handleTraits{most: 3},
	program:  nodeWatchProgram{},
	states: stateTraits{
		final: []engine.State{"watching", "absent", ""},
		wakes: map[engine.State]waking{
			"reading": answered, "watching": needs(1), "absent": needs(1), "pausing": timed,
		},
	},
	plants: plantedWatchers,
}

type nodeWatchProgram struct{ callProgram }

func (nodeWatchProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"view": "true"}
}

func (nodeWatchProgram) keepReply(u *user, ev events.Event) {
	u.view.pendingReplies[ev.Request] = u.newReadState(ev.Stat, string(ev.Data))
}

func (nodeWatchProgram) target(u *user) string { return u.path }

func (nodeWatchProgram) unsettled(u *user) string {
	now := u.c.w.stateOf(u.path)
	if u.call.running && !u.closing && !(u.view.shown && now.matches(u.view.last.stat)) {
		return "was shown another state of the node than it is in"
	}
	return ""
}

// watchView is what the program of a watch knows.
type watchView struct {
	pendingReplies map[uint64]readState // replies that no notice has told yet
	none           readState            // the last reply that said that there is no node
	told           bool
	before         readState // what was told last
	index          int       // the index of that state in the history
	newest         *readState
	shown          bool
	last           readState // what the loop's body has seen last
}

// readState is a state of the node as it was read.
type readState struct {
	nodeState
	conn    *world.Conn // the connection that the reply came over
	session int64
}

func (u *user) newReadState(stat *events.Stat, data string) readState {
	return readState{nodeState{stat: stat, data: data, generation: u.c.w.ens.Generation()}, u.c.Conn(), u.c.SessionID()}
}

func (nodeWatchProgram) act(u *user, n int) {
	d := u.dice()
	switch {
	case !u.call.running && (n < 4 || n == 11):
		u.view = watchView{pendingReplies: map[uint64]readState{}}
		u.beginCall([]events.Kind{events.CommandStart, ""}[n/11], nil)
	case n < 9:
		u.c.w.changeNode(d, u.path)
	case n == 9 && world.OneIn(d, 3):
		u.giveUp()
	case n == 10:
		u.askAgain(events.CommandStart)
	}
}

// nodeMissing notes a reply that says that the watched node does not exist.
func (k *checks) nodeMissing(c *client, a *world.Packet) {
	if u := c.user(a.ID); u != nil && u.role.recipe == "nodewatch" && a.Code == events.NoNode {
		u.view.none = u.newReadState(nil, "")
	}
}

// noticed does what the handle does: the newest value waits for the loop's body.
func (nodeWatchProgram) noticed(u *user, n events.Notify) {
	now := u.view.none
	switch n.What {
	case events.Present:
		now = u.view.pendingReplies[n.Work]
		clear(u.view.pendingReplies)
	case events.Absent:
	default:
		return
	}
	u.c.w.checks.nodeShown(u, now, n.Code == events.ConnectionLoss)
	u.view.newest = &now
	u.runCallback(func() {
		if next := u.view.newest; next != nil {
			u.view.newest, u.view.shown, u.view.last = nil, true, *next
		}
	})
}

// nodeShown checks that a value was true, and not before the last one. A new session
// may be told by a server that lags further behind. An outage is told with the first value
// after it, and with no other.
func (k *checks) nodeShown(u *user, now readState, outage bool) {
	c, from, before := k.historyOf(u.path), 0, u.view.before
	if u.view.told && before.session == now.session && before.generation == now.generation {
		from = u.view.index
	}
	i := c.find(from, now.stat)
	if i < 0 && k.w.ens.Generation() > 0 { // it was sent before the data were replaced
		i = c.find(0, now.stat)
	}
	if i < 0 || now.stat != nil && c.states[i].data != now.data {
		k.fail("each value told was true", "%s is shown %+v with %q, which it never was since it was shown %+v",
			u.name(), now.stat, now.data, before.stat)
		return
	}
	if gap := u.view.told && before.conn != now.conn; gap != outage {
		k.fail("an outage is told", "%s is shown %+v after %+v: over another connection %t, and told of an outage %t",
			u.name(), now.stat, before.stat, gap, outage)
	}
	u.view.told, u.view.before, u.view.index = true, now, i
}

func inWatch(name string, m func() mutate.Mutation) Plant {
	return Plant{Name: "nodewatch: " + name, Shape: inDir(watchedDir), Mutations: inOne("nodewatch", m)}
}

var plantedWatchers = []Plant{
	inWatch("a change is not looked at", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{"read": ignoring(events.WatchChanged)}}
	}),
	{Name: "nodewatch: the node is read without a watch", Shape: inDir(watchedDir),
		Stepped: effectsOf("nodewatch", func(e events.Effect) events.Effect {
			if get, ok := e.(events.Get); ok {
				get.Watch = false
				return get
			}
			return e
		})},
	inWatch("an outage is not told", func() mutate.Mutation {
		return mutate.Mutation{
			Actions: map[string]acting{"noteGap": func(any, events.Event, *engine.Outbox, func(events.Event)) {}}}
	}),
	inWatch("what is there after an outage is what was there before", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"tell": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				if !*field[bool](model, "gap") {
					do(ev)
				}
			}}}
	}),
	{Name: "nodewatch: an earlier read is told", Shape: inDir(watchedDir),
		Stepped: effectsOf("nodewatch", func(e events.Effect) events.Effect {
			if n, ok := e.(events.Notify); ok && n.What == events.Present && n.Work > 1 {
				n.What, n.Work = events.Absent, 0
				return n
			}
			return e
		})},
}
