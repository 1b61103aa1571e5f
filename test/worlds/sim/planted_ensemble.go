package sim

import (
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedEnsembles matter in worlds of what ensembles do without being broken.
var plantedEnsembles = []Plant{
	{Name: "an answer that took long counts from when it came", Shape: inEnsemble(slowDisk),
		Posted: func(c *client, _ events.ID, ev *events.Event) bool {
			if now := c.Clock(); ev.SentAt != 0 && now-ev.SentAt > int64(c.w.Timeout/4) {
				ev.SentAt = now
			}
			return true
		}},
	{Name: "a heartbeat is a read while commits are slow", Shape: inEnsemble(slowDisks),
		Sent: func(c *client, a *world.Packet) {
			if _, beat := heartbeatCall(a.ID, a.Request); beat && !c.w.ens.Serves() {
				a.Feigned = events.Exists{Path: "/"}
			}
		}},
	{Name: "a session compares zxids by their lower halves", Shape: inEnsemble(zxidsEnd), SeesCounters: true},
	{Name: "each parent is created once", Shape: inEnsemble(reaped),
		Stepped: func(c *client, out []engine.Addressed) []engine.Addressed {
			return editEffects(func(c *client, _ events.ID, e events.Effect) events.Effect {
				create, ok := e.(events.Create)
				if !ok || create.Mode != events.Container {
					return e
				}
				if c.parentsMade[create.Path] {
					create.Path = "/app" // it exists
					return create
				}
				c.parentsMade[create.Path] = true
				return e
			})(c, out)
		}},
	{Name: "a create answered by a code counts as refused", Shape: inEnsemble(world.AnsweredByCode),
		Posted: trustCodes("create")},
	{Name: "a delete answered by a code counts as refused", Shape: requestsAnsweredByCodes,
		Posted: trustCodes("delete")},
	{Name: "a set answered by a code counts as refused", Shape: requestsAnsweredByCodes, Posted: trustCodes("set")},
	{Name: "a GUID is forgotten before a look", Shape: inEnsemble(world.AnsweredByCode),
		Mutations: inLines(func() mutate.Mutation { return withGuard("createUnknown", never) })},
	{Name: "what is created late is left", Shape: inEnsemble(world.CarriedOutLate), Mutations: inOne("leftover",
		func() mutate.Mutation { return withGuard("ours", never) })},
	{Name: "a search deletes what is somebody's", Shape: inEnsemble(world.CarriedOutLate),
		Mutations: inOne("leftover", func() mutate.Mutation {
			return withGuard("ours", func(_ any, ev events.Event, _ func(events.Event) bool) bool {
				return ev.Code == events.OK
			})
		})},
	{Name: "a lost connection is dialled at the same server", Shape: inEnsemble(reconfigure), DialsOneServer: true},
}

// trustCodes takes a code that says nothing about an operation for its refusal.
func trustCodes(verb string) func(*client, events.ID, *events.Event) bool {
	return func(c *client, id events.ID, ev *events.Event) bool {
		u := c.user(id)
		asked := verb == "create" && ev.Kind == events.ReplyCreate ||
			u != nil && len(u.ops) > 0 && u.ops[0].Verb == verb
		if asked && ev.Code.Unknown() && ev.Code != events.ConnectionLoss {
			ev.Code = events.NoAuth
		}
		return true
	}
}

func requestsAnsweredByCodes(p *Plan) {
	inEnsemble(world.AnsweredByCode)(p)
	inDir(requestDir)(p)
}

// inEnsemble returns the shape of the worlds of such a fault.
func inEnsemble(fault string) func(*Plan) {
	return func(p *Plan) {
		f, _ := ensembleFaultNamed(fault)
		f.shapeWorld(p)
	}
}
