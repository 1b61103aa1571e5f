package play

import (
	"fmt"
	"time"

	"github.com/incumbent-go/incumbent/internal/world"
	"github.com/incumbent-go/incumbent/machines"
)

// Recipes returns the recipes that can be played.
func Recipes() []string { return world.Playable() }

// permits is how many permits a semaphore has.
const permits = 2

// settle is for how long a group's members have to stay the same before shards of members move.
const settle = 2 * time.Second

// build returns the script of package world, with the deeds up to a moment. The error is of package world, which
// refuses nothing that Check allows.
func (s Script) build(until time.Duration) world.Script {
	scenario := scenarioNamed(s.Scenario)
	w := world.Script{Seed: s.Seed, Tick: scenario.tick, SyncLimit: syncLimit, Timeout: scenario.timeout,
		RideOut: s.RideOut, OneClock: true, Layout: scenario.layout}
	for i, name := range s.Participants() {
		p := world.Program{Recipe: s.Recipe, Path: path, Name: name, Waits: i >= s.Starting, Works: s.Works,
			Forgets: name == s.Forgets}
		switch machines.TraitsOf(s.Recipe).Grants {
		case machines.GrantsReadWriteLock: // the first and every third writes
			p.Options = map[string]string{machines.OptionReads: fmt.Sprint(i%3 != 0)}
		case machines.GrantsPermits:
			p.Options = map[string]string{machines.OptionLimit: fmt.Sprint(permits), machines.OptionPermits: "1"}
		case machines.GrantsEntry:
			p.Options = map[string]string{machines.OptionQuantity: fmt.Sprint(s.quantity())}
		case machines.GrantsShards:
			p.Options = map[string]string{machines.OptionShards: fmt.Sprint(shards),
				machines.OptionSettle: settle.String(), machines.OptionInstance: name}
		}
		w.Clients = append(w.Clients, p)
	}
	for _, d := range s.Deeds {
		if d.At <= until {
			w.Actions = append(w.Actions, s.action(d))
		}
	}
	return w
}

// quantity returns how many have to enter a double barrier: those that begin by themselves, but two at least.
func (s Script) quantity() int { return max(2, s.Starting) }

// action returns a deed as the world does it.
func (s Script) action(d Deed) world.Action {
	a := world.Action{At: int64(d.At), Do: verbNamed(d.Verb).does, For: d.For}
	for i, name := range s.Participants() {
		if name == d.Target {
			a.Who = i
		}
	}
	for i, name := range scenarioNamed(s.Scenario).Servers {
		if name == d.Target {
			a.Who = i
		}
	}
	return a
}

// lineOf returns the directory of the recipe's places, and the labels of their names; none for a recipe without a line.
func lineOf(recipe string) (dir string, labels []string) {
	t := machines.TraitsOf(recipe)
	if t.Label == "" {
		return "", nil
	}
	labels = []string{t.Label}
	if t.SharedLabel != "" {
		labels = append(labels, t.SharedLabel)
	}
	if t.Grants == machines.GrantsPermits {
		return machines.SemaphoreLocks(path, false), labels
	}
	return path, labels
}
