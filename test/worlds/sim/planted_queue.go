package sim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// withoutSync leaves out the sync before a read.
func withoutSync(recipe string) func(*client, []engine.Addressed) []engine.Addressed {
	return effectsOf(recipe, func(e events.Effect) events.Effect {
		if _, sync := e.(events.Sync); sync {
			return nil
		}
		return e
	})
}

// inMultis plants a change in a recipe's transactions.
func inMultis(recipe string,
	change func(ops []events.Op) []events.Op) func(*client, []engine.Addressed) []engine.Addressed {
	return effectsOf(recipe, func(e events.Effect) events.Effect {
		if m, ok := e.(events.Multi); ok {
			m.Ops = change(slices.Clone(m.Ops))
			return m
		}
		return e
	})
}

// inReplies plants a change in the replies that a recipe's machines get.
func inReplies(recipe string, change func(*client, *user, *events.Event)) func(*client, events.ID, *events.Event) bool {
	return func(c *client, id events.ID, ev *events.Event) bool {
		if u := c.user(id); u != nil && u.role.recipe == recipe {
			change(c, u, ev)
		}
		return true
	}
}

// hostTime replaces the time of the leader's write by the time of the host.
func hostTime(c *client, _ *user, ev *events.Event) {
	if ev.Kind == events.ReplyMulti && ev.Stat != nil {
		stat := *ev.Stat
		stat.Mtime = c.Clock() / 1e6
		ev.Stat = &stat
	}
}

// twoSecondsAhead has the leader's clock be read wrong.
func twoSecondsAhead(_ *client, _ *user, ev *events.Event) {
	if ev.Kind == events.ReplyMulti && ev.Stat != nil {
		stat := *ev.Stat
		stat.Mtime += 2000
		ev.Stat = &stat
	}
}

// listing plants a change in the listings that consumers get.
func listing(change func(names []string) []string) func(*client, events.ID, *events.Event) bool {
	return inReplies("consumer", func(_ *client, _ *user, ev *events.Event) {
		if ev.Kind == events.ReplyChildren && len(ev.Children) > 0 {
			ev.Children = change(ev.Children)
		}
	})
}

// isSent reports whether a producer has sent the put of a command.
func isSent(model any, command uint64) bool {
	sending := reflect.ValueOf(model).Elem().FieldByName("sending")
	for i := range sending.Len() {
		if sending.Index(i).FieldByName("command").Uint() == command {
			return true
		}
	}
	return false
}

// replacingAction plants another action in a recipe.
func replacingAction(recipe, action string, plant acting) func() map[string]mutate.Mutation {
	return inOne(recipe, func() mutate.Mutation { return mutate.Mutation{Actions: map[string]acting{action: plant}} })
}

// replacingGuard plants another guard in a recipe.
func replacingGuard(recipe, guard string, plant guarding) func() map[string]mutate.Mutation {
	return inOne(recipe, func() mutate.Mutation { return withGuard(guard, plant) })
}

func doNothing(any, events.Event, *engine.Outbox, func(events.Event)) {}

func onOK(_ any, ev events.Event, _ func(events.Event) bool) bool { return ev.Code == events.OK }

var plantedProducers = []Plant{
	{Name: "producer: the marker is set whatever its version", Shape: inDir(queuePath),
		Stepped: inMultis("producer", func(ops []events.Op) []events.Op {
			ops[0].Version = -1
			return ops
		})},
	{Name: "producer: after a lost reply the marker is not compared", Shape: inDir(queuePath),
		Mutations: inOne("producer", func() mutate.Mutation {
			return mutate.Mutation{Guards: map[string]guarding{"markerSaysCommitted": never, "markerUnchanged": onOK}}
		})},
	// A write that is sent again brings the server up to date. Only a read in its place
	// shows what a server that lags behind can do.
	{Name: "producer: after a lost reply the marker is read, at whatever server", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(12, "lag", "cut after apply")
	}, Mutations: inOne("producer", func() mutate.Mutation {
		return mutate.Mutation{
			Actions: map[string]acting{
				"send": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
					if *field[bool](model, "outcomeUnknown") && ev.Kind == events.ConnectionAttached {
						out.With(engine.Data).Get(*field[string](model, "marker"))
						return
					}
					do(ev)
				}},
			Detours: []mutate.Detour{
				{Row: engine.Edge{From: "suspended", Name: "connection.attached [mayBeCommitted]", To: "putting"},
					To: "verifying"}},
		}
	})},
	{Name: "producer: a put with an unknown outcome is sent as a new one", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(6, "leader deposed", "leader crash")
	}, Mutations: replacingGuard("producer", "mayBeCommitted", never)},
	{Name: "producer: a put that was carried out is answered with a wrong version", Shape: inDir(queuePath),
		Posted: inReplies("producer", func(_ *client, _ *user, ev *events.Event) {
			if ev.Kind == events.ReplyMulti && ev.Code == events.OK && ev.Zxid%7 == 0 {
				ev.Code = events.BadVersion
			}
		})},
	{Name: "producer: what is refused when it is sent again was never carried out", Shape: inDir(queuePath),
		Mutations: replacingGuard("producer", "mayBeCommitted",
			func(_ any, ev events.Event, holds func(events.Event) bool) bool {
				return holds(ev) && ev.Kind != events.ReplyMulti
			})},
	{Name: "producer: a put that is under way is taken back", Shape: inDir(queuePath),
		Mutations: replacingAction("producer", "cancel",
			func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				if isSent(model, ev.Work) {
					out.Answer(ev.Work, events.Cancelled, "")
				}
				do(ev)
			})},
	{Name: "producer: nobody looks at the bound", Shape: inDir(queuePath),
		Mutations: replacingGuard("producer", "bounded", never)},
	{Name: "producer: the last item of a put comes first", Shape: inDir(queuePath),
		Stepped: inMultis("producer", func(ops []events.Op) []events.Op {
			slices.Reverse(ops[1:])
			return ops
		})},
	{Name: "producer: a delay is counted by the host's clock", Shape: inDir(queuePath),
		Posted: inReplies("producer", hostTime)},
	{Name: "producer: closing, it leaves its marker", Shape: inDir(queuePath),
		Stepped: editEffects(func(c *client, id events.ID, e events.Effect) events.Effect {
			if d, ok := e.(events.Delete); ok && c.user(id).role.recipe == "producer" && c.user(id).closing {
				c.Post(id, events.Event{Kind: events.ReplyDelete, Request: d.Request, Session: d.Session, Path: d.Path})
				return nil
			}
			return e
		})},
}

var plantedConsumers = []Plant{
	{Name: "consumer: the lock's owner is not checked when the work returns", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(4, "pause long")
	}, Mutations: replacingGuard("consumer", "lockGone", never)},
	{Name: "consumer: an item is deleted without its lock", Shape: inDir(queuePath),
		Stepped: inMultis("consumer", func(ops []events.Op) []events.Op {
			if len(ops) > 1 && ops[1].Verb == "delete" {
				return slices.Delete(ops, 1, 2)
			}
			return ops
		})},
	{Name: "consumer: every lock is its own after a lost reply", Shape: inDir(queuePath),
		Mutations: replacingGuard("consumer", "ours", onOK)},
	{Name: "consumer: a lock that is not there is its own", Shape: inDir(queuePath),
		Mutations: replacingGuard("consumer", "ours", func(_ any, ev events.Event, _ func(events.Event) bool) bool {
			return ev.Code == events.OK || ev.Code == events.NoNode
		})},
	{Name: "consumer: no lock is its own after a lost reply", Shape: inDir(queuePath),
		Mutations: replacingGuard("consumer", "ours", never)},
	{Name: "consumer: a lock of the session before is its own", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(8, "other id", "cut", "cut after apply", "cut before send")
	}, Mutations: replacingGuard("consumer", "ours", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
		for session := ev.Session; session > 0; session-- {
			if ev.Session = session; holds(ev) {
				return true
			}
		}
		return false
	})},
	{Name: "consumer: a lock's owner is read at a server that lags behind", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(12, "lag", "cut after apply")
	}, Stepped: withoutSync("consumer")},
	{Name: "consumer: items are not locked", Shape: inDir(queuePath),
		Mutations: replacingGuard("consumer", "takesWithoutLock", withFlags("once"))},
	{Name: "consumer: the items of the session before are its own", Shape: inDir(queuePath),
		Mutations: replacingAction("consumer", "lose", doNothing)},
	{Name: "consumer: a handler is not told that its lock is gone", Shape: inDir(queuePath),
		Stepped: effectsOf("consumer", func(e events.Effect) events.Effect {
			if n, ok := e.(events.Notify); ok && n.What == events.Withdrawn {
				return nil
			}
			return e
		})},
	{Name: "consumer: an item that is gone counts as taken, at most once", Shape: inDir(queuePath),
		Posted: inReplies("consumer", func(c *client, u *user, ev *events.Event) {
			if c.w.queue.atMostOnce && c.Engine().State(u.id) == "taking" && ev.Code == events.NoNode {
				ev.Code = events.OK
			}
		})},
	{Name: "consumer: a possible loss is not reported", Shape: inDir(queuePath),
		Mutations: replacingGuard("consumer", "missing", never)},
	{Name: "consumer: the last item is delivered first", Shape: inDir(queuePath),
		Mutations: replacingAction("consumer", "order",
			func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				do(ev)
				slices.Reverse(*field[[]machines.Item](model, "backlog"))
			})},
	{Name: "consumer: the first of a listing is left out", Shape: inDir(queuePath),
		Posted: listing(func(names []string) []string {
			if first := slices.Min(names); len(names) > 1 {
				return without(names, func(name string) bool { return name == first })
			}
			return names
		})},
	{Name: "consumer: some items are never listed", Shape: inDir(queuePath),
		Posted: listing(func(names []string) []string {
			return without(names, func(name string) bool { return strings.HasSuffix(name, "2") })
		})},
	{Name: "consumer: the leader's clock is read two seconds ahead", Shape: inDir(queuePath),
		Posted: inReplies("consumer", twoSecondsAhead)},
	{Name: "consumer: due times are read from the host's clock", Shape: inDir(queuePath),
		Posted: inReplies("consumer", hostTime)},
	{Name: "consumer: new items are ignored", Shape: inDir(queuePath),
		Mutations: replacingAction("consumer", "noteChange", ignoring(events.WatchChildren))},
	{Name: "consumer: an item that another has locked is never tried again", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(3, "client dies")
	},
		Mutations: replacingAction("consumer", "waitForNext",
			func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				*field[bool](model, "skipped") = false
				do(ev)
			})},
	{Name: "consumer: a failed try counts as a success", Shape: inDir(queuePath),
		Mutations: replacingAction("consumer", "decideOutcome",
			func(_ any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				ev.Text = ""
				do(ev)
			})},
	{Name: "consumer: dead letters are not written", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(1, "failing work")
	}, Stepped: inMultis("consumer", func(ops []events.Op) []events.Op {
		return slices.DeleteFunc(ops, func(op events.Op) bool {
			return strings.HasPrefix(op.Path, queueDeadLetters+"/")
		})
	})},
	{Name: "consumer: an item is given up a try early", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(1, "failing work")
	},
		Mutations: replacingAction("consumer", "decideOutcome",
			func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
				tries := field[int](model, "tries")
				*tries--
				do(ev)
				*tries++
			})},
	{Name: "consumer: closing, it keeps the items that failed", Shape: func(p *Plan) {
		inDir(queuePath)(p)
		p.often(1, "failing work")
		p.often(4, "close")
	},
		Mutations: replacingGuard("consumer", "mayClose",
			func(model any, _ events.Event, _ func(events.Event) bool) bool {
				return len(*field[[]uint64](model, "closing")) > 0
			})},
}
