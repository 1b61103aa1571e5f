package sim

import (
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
)

// observerRole is the role of the observer. Its programs watch a line without queueing in it.
// Some processes have one in addition to their other handles.
var observerRole = &role{
	recipe:  "leaderwatch",
	program: handleProgram{},
	states: stateTraits{wakes: map[engine.State]waking{
		"watching": needs(1), "vacant": needs(1), "absent": needs(1),
		"listing": answered, "reading": answered, "pausing": timed,
	}},
}

// addObserver opens an observer in some processes.
func (w *harness) addObserver(c *client, seed string) {
	d := w.Dice("plan")
	if !world.OneIn(d, 4) {
		return
	}
	all := labels()
	label := all[d.IntN(len(all))]
	u := &user{c: c, id: "leaderwatch-0", role: observerRole, works: map[uint64]bool{}, awaits: map[uint64]bool{}}
	c.users = append(c.users, u)
	c.Ask(u.id, events.CommandOpen,
		events.Event{Recipe: u.role.recipe, Path: "/app/line0", Seed: seed,
			Options: map[string]string{"label": label, "retry": "bounded/-1/50ms/2s"}})
	w.After(world.Between(d, 0, 4*time.Second), func() { c.Run(u.start) })
}
