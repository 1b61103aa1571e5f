package chaos

import (
	"math"
	"time"

	"github.com/anishathalye/porcupine"
)

// register is a number that leaders count up, as porcupine is to take it: a leader loads it, and from then on
// saves one more each time without looking again, as a leader may who is alone. A save that replaces anything but the
// number before it has lost somebody's. A refused request changes nothing; one whose client ended before it heard may have
// been done at any time after the call, or never.
var register = porcupine.Model{
	Init: func() any { return int64(0) },
	Step: func(state, _, output any) (bool, any) {
		n, c := state.(int64), output.(call)
		switch {
		case !c.taken && !c.unknown:
			return true, n
		case c.verb == load:
			return c.unknown || n == c.value, n
		case n == c.value-1:
			return true, c.value
		}
		return c.unknown, n
	},
}

// linearizable says whether a line's calls can have happened one at a time, each between its call and its answer: Ok,
// Illegal, or Unknown when the patience was over before the search.
func linearizable(clients []client, patience time.Duration) porcupine.CheckResult {
	var all []porcupine.Operation
	for i, c := range clients {
		for _, one := range c.calls {
			heard := one.heard
			if one.unknown {
				heard = math.MaxInt64
			}
			all = append(all, porcupine.Operation{ClientId: i, Input: one.verb, Call: one.called, Output: one, Return: heard})
		}
	}
	return porcupine.CheckOperationsTimeout(register, all, patience)
}
