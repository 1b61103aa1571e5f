package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// selectorRole is the role of the selector. Its programs run a function once a term. Its
// machines may stay in any state, because its terms end by themselves.
var selectorRole = &role{
	recipe:  "selector",
	line:    lineTraits{label: machines.SelectorLabel, share: 1},
	program: selectorProgram{},
	states:  stateTraits{wakes: lineWakes},
}

type selectorProgram struct{ healthProgram }

func (selectorProgram) options(u *user, d *rand.Rand) map[string]string {
	u.oneTerm = world.OneIn(d, 4)
	return map[string]string{"autoRequeue": fmt.Sprint(!u.oneTerm), "healthFailures": "1"}
}

func (selectorProgram) act(u *user, n int) {
	switch {
	case n == 5 || n == 6:
		u.write()
	case n == 7 || n == 8:
		u.c.Ask(u.id, events.CommandRequeue, events.Event{})
	case n >= 9:
		u.checkHealth(n > 9)
	}
}

func (selectorProgram) noticed(u *user, n events.Notify) {
	switch n.What {
	case events.Elected:
		u.beginWork()
	case events.Stopped:
		u.stopWork()
	}
}
