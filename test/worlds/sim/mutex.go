package sim

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// mutexRole is the role of the mutex. Its programs lock, work, unlock, try, and give up. They
// queue in the same line as the selectors, so that the checks of belief hold for both
// together.
var mutexRole = &role{
	recipe:  "mutex",
	line:    lineTraits{label: machines.LockLabel, share: 1},
	program: mutexProgram{},
	states: stateTraits{
		final:  []engine.State{""},
		wakes:  holdWakes,
		faults: map[engine.State][]string{"verifying": {"delete the own node", "hide the own node, then delete it"}},
	},
	plants: plantedMutexes,
}

type mutexProgram struct{ holdProgram }

// holdWakes wake the machines of locks.
var holdWakes = with(lineWakes, map[engine.State]waking{"probing": answered})

func (mutexProgram) act(u *user, n int) {
	switch {
	case n < 6:
		d := u.dice()
		u.beginCall(events.CommandAwait,
			map[string]string{"try": fmt.Sprint(world.OneIn(d, 3)), "revocable": fmt.Sprint(world.OneIn(d, 4))})
	case n == 6 && world.OneIn(u.dice(), 3):
		u.askAgain(events.CommandAwait)
	case n == 11 && world.OneIn(u.dice(), 4):
		u.beginCall("", nil) // the client closes it before it was asked for anything
	case n == 7:
		u.giveUp()
	case n == 8 || n == 10:
		u.write()
	}
}

// holdProgram is the program of a lock or of permits: each call is granted once, and
// holds once.
type holdProgram struct{ callProgram }

func (holdProgram) noticed(u *user, n events.Notify) {
	k := u.c.w.checks
	switch n.What {
	case events.Granted:
		if u.call.grants++; u.call.grants > 1 {
			k.fail("a hold is granted once", "%s was granted %d times", u.name(), u.call.grants)
		}
		u.beginWork()
	case events.Elected:
		if u.call.terms++; u.call.terms > 1 {
			k.fail("a hold is over after its end", "%s holds again", u.name())
		}
	case events.Stopped:
		u.stopWork()
	}
}

// isTry reports whether the handle's call is a try.
func (u *user) isTry() bool { return u.call.options["try"] == "true" }

// tryListed notes whether the first listing of a try showed others.
func (k *checks) tryListed(u *user, ev events.Event) {
	line, _ := machines.Line(ev.Children, u.role.labels()...)
	excludes := slices.ContainsFunc(line, func(p machines.Place) bool {
		return u.call.options["reads"] != "true" || !isReader(p.Name)
	})
	u.call.foundOthers = u.isTry() && len(u.made) == 0 && !u.call.askedForNode && ev.Code == events.OK && excludes
}

// tryAsks checks that a try that found others asks for no node.
func (k *checks) tryAsks(u *user) {
	if u.call.foundOthers {
		k.fail("a try that finds others writes nothing", "%s found others in line, and asks for a node", u.name())
	}
	u.call.askedForNode = true
}

// tryWaits checks that a try does not wait.
func (k *checks) tryWaits(u *user, state string) {
	if u.isTry() && state == "waiting" {
		k.fail("a try does not wait", "%s waits behind others", u.name())
	}
}

var plantedMutexes = []Plant{
	{Name: "mutex: a try queues behind others",
		Mutations: inOne("mutex", func() mutate.Mutation { return withGuard("lineOccupied", never) })},
	{Name: "mutex: a try that lost the race waits",
		Mutations: inOne("mutex", func() mutate.Mutation { return withGuard("tryBehind", never) })},
	{Name: "mutex: its node is left after the work",
		Mutations: inOne("mutex", func() mutate.Mutation { return withGuard("mayHaveNode", never) })},
	{Name: "mutex: the predecessor's deletion is ignored", Mutations: inOne("mutex", func() mutate.Mutation {
		return mutate.Mutation{
			Guards:  map[string]guarding{"mayTakeOver": never},
			Actions: map[string]acting{"relistLine": func(any, events.Event, *engine.Outbox, func(events.Event)) {}},
		}
	})},
	{Name: "mutex: after its term it holds again", Mutations: inOne("mutex", func() mutate.Mutation {
		return withGuard("mustDeleteFirst", func(_ any, ev events.Event, holds func(events.Event) bool) bool {
			return ev.Kind != events.WorkDrained && holds(ev)
		})
	})},
	{Name: "mutex: a selector in the line does not count",
		Posted: func(c *client, id events.ID, ev *events.Event) bool {
			if u := c.user(id); u != nil && u.role.recipe == "mutex" && ev.Kind == events.ReplyChildren {
				ev.Children = without(ev.Children, func(name string) bool {
					return string(c.w.data(u.dir+"/"+name)) != "" && !c.w.isOf("mutex", u.dir+"/"+name)
				})
			}
			return true
		}},
}
