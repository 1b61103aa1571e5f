package sim

import (
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plantedServers are about ensembles that are not three voting servers with the same settings, and
// about configurations that do not fit the ensemble.
var plantedServers = []Plant{
	{Name: "a standstill of a server is no silence", Shape: inServers(standingServers), Mutations: anyAnswer},
	{Name: "an idle client does not notice that the leader stood still", Shape: inServers(idleClients),
		Mutations: inOne("session", func() mutate.Mutation { return withGuard("idleUncounted", never) })},
	{Name: "the timeout that was granted last counts", Shape: inServers(limitedServers),
		Mutations: inOne("session", func() mutate.Mutation {
			return mutate.Mutation{Actions: map[string]acting{
				"attach": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
					do(ev)
					*field[time.Duration](model, "timeout") = time.Duration(ev.Timeout)
				}}}
		})},
	{Name: "a standstill of up to half a timeout is no silence", Shape: shapeStandstills,
		Mutations: inOne("session", func() mutate.Mutation {
			return withGuard("uncounted", func(model any, ev events.Event, holds func(events.Event) bool) bool {
				return holds(ev) && time.Duration(ev.At-*field[int64](model, "heard")) >
					*field[time.Duration](model, "timeout")/2
			})
		})},
	{Name: "a tick that is a fifth too small, and no slack", Shape: shapeTooSmallTick, Mutations: withoutSlack},
	{Name: "AloneUntil counts a whole timeout from the request", Mutations: aloneForATimeout},
	{Name: "an observer behind an observer master reports in one step", Shape: shapeMasters, Mutations: anyAnswer,
		Configured: func(l *world.Layout) { l.ObserverMasters = false }},
	{Name: "the tick is a tenth of the real one", Shape: inServers(smallerTick), Configured: func(l *world.Layout) {
		l.Tick /= 10
	}},
	{Name: "a granted timeout teaches no tick", Shape: inServers(learnedTick), Configured: func(l *world.Layout) {
		l.TickAssumed = false
	}},
}

// shapeStandstills makes worlds in which the ensemble's leader stands still for less than half a timeout, and wakes
// before any session ends.
func shapeStandstills(p *Plan) {
	inServers(standingServers)(p)
	p.Timeout = time.Duration(5+p.Seed%4) * p.Tick
	p.often(8, leaderStillCut)
}

// shapeMasters makes worlds in which an observer is cut off while its observer master has reported nothing since a
// pause. Nothing else in them needs the guard that anyAnswer takes away: the ensemble's leader never stands still.
func shapeMasters(p *Plan) {
	p.Tick = 2 * time.Second
	inServers(masterServers)(p)
	p.Timeout = 2*p.Tick + world.Between(world.NewDice(p.Seed, "observer masters"), 0, p.Tick/2)
	p.Length = 20 * p.Timeout
	p.Faults = slices.DeleteFunc(p.Faults, func(r Rate) bool {
		return r.Fault == "leader stands still" || r.Fault == "leader deposed"
	})
	p.often(15, briefPauseThenCut)
}

// shapeTooSmallTick makes worlds in which the clients take the tick for a fifth less than it is. At a timeout of two
// ticks, that costs about as much as the slack of a fortieth of the timeout.
func shapeTooSmallTick(p *Plan) {
	p.Tick = 2 * time.Second
	inServers(smallerTick)(p)
	p.Timeout, p.Layout.Tick = 2*p.Tick, p.Tick*4/5
	p.Length = 20 * p.Timeout
	p.Faults = slices.DeleteFunc(p.Faults, func(r Rate) bool { return r.Fault == "pause within a step" })
	p.often(20, pauseBetweenCut)
}

// aloneForATimeout says that a session is sure for a whole timeout after a request was sent, as if the ensemble's
// leader had heard of it then.
var aloneForATimeout = inOne("session", func() mutate.Mutation {
	return mutate.Mutation{Actions: map[string]acting{
		"extendBelief": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			before := *field[int64](model, "confirmed")
			do(ev)
			sent := *field[int64](model, "confirmed")
			if sent == before {
				return
			}
			alone := field[int64](model, "aloneUntil")
			*alone = max(*alone, sent+int64(*field[time.Duration](model, "timeout")))
			out.Deadline(*field[int64](model, "number"), *field[int64](model, "validUntil"), *alone)
		}}}
})

// withoutSlack has belief, and the time in which the session is said to be sure, last for the slack longer.
var withoutSlack = inOne("session", func() mutate.Mutation {
	return mutate.Mutation{Actions: map[string]acting{
		"extendBelief": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			before := *field[int64](model, "confirmed")
			do(ev)
			sent := *field[int64](model, "confirmed")
			if sent == before {
				return
			}
			timeout := int64(*field[time.Duration](model, "timeout"))
			until, alone := field[int64](model, "validUntil"), field[int64](model, "aloneUntil")
			*until, *alone = max(*until, min(*until+timeout/40, sent+timeout/2)), *alone+timeout/40
			out.Deadline(*field[int64](model, "number"), *until, *alone)
		}}}
})
