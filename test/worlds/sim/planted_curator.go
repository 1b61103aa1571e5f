package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedCurator are bugs that Apache Curator's recipes had, by the number of the issue,
// in our terms. CURATOR-171 is in plantedWatches, since a watch was missing, and the late
// reply of CURATOR-498 is in plantedOutcomes too.
var plantedCurator = []Plant{
	{Name: "CURATOR-3: closing, it misses its node and makes another", Mutations: inLines(func() mutate.Mutation {
		return mutate.Mutation{Guards: map[string]guarding{
			"deletedNotClosing": func(_ any, ev events.Event, _ func(events.Event) bool) bool {
				return ev.Code == events.OK || ev.Code == events.NoNode
			},
			"closesWithoutNode": func(_ any, ev events.Event, holds func(events.Event) bool) bool {
				return ev.Kind != events.ReplyDelete && holds(ev)
			},
		}}
	})},
	{Name: "CURATOR-18: closed while its node is being made, it leaves the node",
		Mutations: inLines(func() mutate.Mutation {
			return withGuard("noneMade", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				if ev.Kind == events.ReplyCreate {
					ev.Code = events.NodeExists // as if nothing had been made
				}
				return holds(ev)
			})
		})},
	{Name: "CURATOR-498: a look-up takes the node of the session before", Mutations: inOne("latch", sameEnrolment)},
	{Name: "CURATOR-604: a lock is acquired by the node of the session before",
		Mutations: inOne("selector", sameEnrolment)},
	{Name: "CURATOR-620: connected twice, the first reset deletes the node after the second won by it",
		Mutations: inLines(func() mutate.Mutation {
			return lateReset(2, func(ev events.Event) bool { return ev.Kind != events.WatchDeleted })
		})},
	{Name: "CURATOR-644: a predecessor that vanished is a reason for one more node",
		Mutations: inLines(func() mutate.Mutation {
			return resets(false)
		})},
	{Name: "CURATOR-645: a predecessor that vanished is a reason to queue again, each because of the other",
		Mutations: inLines(func() mutate.Mutation {
			return resets(true)
		})},
	{Name: "CURATOR-653: a reset deletes the node by which the predecessor's deletion had just made it leader",
		Mutations: inLines(func() mutate.Mutation {
			return lateReset(1, func(ev events.Event) bool { return ev.Kind == events.WatchDeleted })
		})},
	{Name: "CURATOR-696: in a new session it leads by the path of the old one", Mutations: inLines(samePath)},
	{Name: "CURATOR-724: connected again, it does nothing about a directory that is gone",
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			u := c.user(id)
			gone := ev.Code == events.NoNode && (ev.Kind == events.ReplyStat || ev.Kind == events.ReplyChildren)
			return u == nil || !gone || c.Engine().State(id) != "verifying" || c.w.ens.Committed().Exists(u.dir)
		}},
}

// afterLoss returns actions that run something after a participant has dealt with the
// end of its session. The function gets what the participant had before.
func afterLoss(then func(model any, own string, sequence, token int64)) map[string]acting {
	wrapped := func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
		own, sequence, token := ownPath(model), *field[int64](model, "sequence"), *field[int64](model, "token")
		do(ev)
		then(model, own, sequence, token)
	}
	return map[string]acting{"lose": wrapped, "stepDownLost": wrapped}
}

// anyOwner is a guard that takes a node for the own one, although another session owns it.
func anyOwner(model any, ev events.Event, holds func(events.Event) bool) bool {
	if ev.Stat != nil {
		stat := *ev.Stat
		stat.EphemeralOwner = *field[int64](model, "owner")
		ev.Stat = &stat
	}
	return holds(ev)
}

// sameEnrolment has an enrolment outlive its session: the next one searches for its
// GUID, and takes what it finds.
func sameEnrolment() mutate.Mutation {
	return mutate.Mutation{
		Guards: map[string]guarding{"ours": anyOwner, "unacceptable": anyOwner},
		Actions: afterLoss(func(model any, own string, _, _ int64) {
			if own != "" {
				*field[bool](model, "unknown") = true
			}
		}),
	}
}

// samePath has a place outlive its session.
func samePath() mutate.Mutation {
	return mutate.Mutation{
		Guards: map[string]guarding{"ours": anyOwner, "unacceptable": anyOwner},
		Actions: afterLoss(func(model any, own string, sequence, token int64) {
			*field[string](model, "ownPath"), *field[int64](model, "sequence") = own, sequence
			*field[int64](model, "token") = token
		}),
	}
}

// lateReset deletes the own node just after its participant became leader by it, if the
// participant had connected that often before.
func lateReset(times int, by func(events.Event) bool) mutate.Mutation {
	again := map[any]int{}
	return mutate.Mutation{Actions: map[string]acting{
		"attach": func(model any, ev events.Event, _ *engine.Outbox, do func(events.Event)) {
			again[model]++
			do(ev)
		},
		"beginTerm": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			do(ev)
			if again[model] >= times && by(ev) {
				out.With(engine.Unawaited).Delete(ownPath(model))
			}
		},
	}}
}

// resets takes a missing predecessor for the own node. If deletes is true, it deletes
// the own node.
func resets(deletes bool) mutate.Mutation {
	mistaken := func(model any, ev events.Event) bool {
		return ev.Kind == events.ReplyStat && ev.Code == events.NoNode && ev.Path != ownPath(model)
	}
	return mutate.Mutation{
		Guards: map[string]guarding{"ownGone": func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return holds(ev) || mistaken(model, ev)
		}},
		Actions: map[string]acting{
			"enrol": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				if deletes && mistaken(model, ev) {
					out.With(engine.Unawaited).Delete(ownPath(model))
				}
				do(ev)
			}},
	}
}
