package sim

import (
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// latchRole is the role of the latch. Its programs await leadership from time to time, cancel,
// resign, work and write under it.
var latchRole = &role{
	recipe:  "latch",
	line:    lineTraits{label: machines.LatchLabel, share: 2},
	program: latchProgram{},
	states:  stateTraits{final: lineFinal, wakes: lineWakes},
	plants: []Plant{{Name: "latch: an unhealthy leader leads on", Mutations: inOne("latch", func() mutate.Mutation {
		return withGuard("failsCheck", func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return !*field[bool](model, "leads") && holds(ev)
		})
	})}},
}

type latchProgram struct{ healthProgram }

func (latchProgram) options(*user, *rand.Rand) map[string]string {
	return map[string]string{"healthFailures": "1"}
}

func (latchProgram) act(u *user, n int) {
	switch {
	case n < 5 && len(u.awaits)+len(u.works) < 3:
		u.awaits[u.c.Ask(u.id, events.CommandAwait, events.Event{})] = true
	case n == 5:
		u.c.Ask(u.id, events.CommandResign, events.Event{})
	case n == 6:
		u.cancel()
	case n == 7 || n == 8:
		u.write()
	case n >= 9:
		u.checkHealth(n > 9)
	}
}

func (latchProgram) noticed(u *user, n events.Notify) {
	switch n.What {
	case events.Granted:
		delete(u.awaits, n.Work)
		u.granted = n.Work
		u.beginWork()
	case events.Stopped:
		u.stopWork()
	}
}
