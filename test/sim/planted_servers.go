package sim

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/mutate"
	"github.com/incumbent-go/incumbent/world"
)

// plantedServers are about ensembles that are not three voting servers with the same settings, and
// about configurations that do not fit the ensemble.
var plantedServers = []Plant{
	{Name: "a standstill of a server is no silence", Shape: inServers(standingServers), Mutations: anyAnswer},
	{Name: "the timeout that was granted last counts", Shape: inServers(limitedServers), Mutations: inOne("session", func() mutate.Mutation {
		return mutate.Mutation{Actions: map[string]acting{
			"attach": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				do(ev)
				*field[time.Duration](model, "timeout") = time.Duration(ev.Timeout)
			}}}
	})},
	{Name: "the tick is a tenth of the real one", Shape: inServers(smallerTick), Configured: func(l *world.Layout) { l.Tick /= 10 }},
	{Name: "a granted timeout teaches no tick", Shape: inServers(learnedTick), Configured: func(l *world.Layout) { l.TickAssumed = false }},
}
