package machines

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// MutexRecipe makes the acquisitions of a mutex. One machine is one Lock, from the call to the
// deletion of the node: Curator's InterProcessMutex on the same names, or kazoo's Lock on its own.
// Options: "try" never waits, "revocable" handles Curator's revocations, "kazoo" uses kazoo's names,
// "prefix", which may be empty, uses names of a prefix and a number; and those of LatchRecipe. With a
// prefix, the owner does what the GUID does elsewhere: see ElectionRecipe.
var MutexRecipe = &engine.RecipeOf[mutex]{Named: "mutex", Chart: mutexChart, Open: newMutex}

// mutex is one acquisition of a mutex.
type mutex struct{ acquisition }

func newMutex(open events.Event) (*mutex, error) {
	o := optionsOf(open)
	label := LockLabel
	if o.flag(OptionKazoo) {
		label = KazooLabel
	}
	prefix, plain := o.given(OptionPrefix)
	if plain {
		label = prefix
	}
	m := &mutex{newAcquisition(open, &o, label)}
	if plain {
		m.naming, m.ownerSearch = byOwner, &ownerSearch{}
	}
	return m, o.check()
}

func mutexChart() (c engine.Chart[mutex]) {
	c.Doc = "One acquisition of a mutex: in line until it is held once, or until the caller gives up." + holdPromises
	c.States = holdStates
	c.Final = closed
	c.Composites = []engine.Composite{
		{Name: "queued", States: from{enrolling, listing, waiting, suspended, verifying, pausing}},
		{Name: "held", States: from{leading}},
		{Name: "let go", States: from{draining, deciding, leaving}},
	}
	c.Happy = from{latent, enrolling, listing, waiting, leading, draining, deciding, leaving, closed}
	c.Kinds = append([]events.Kind{events.CommandAwait}, lineKinds...)
	c.Rows = slices.Concat(engine.Lift(holdRows(), (*mutex).asAcquisition),
		engine.Lift(without(slices.Concat(ownerRows, lineRows), blocked), (*mutex).inLine))
	c.Ignores = holdIgnores
	return c
}
