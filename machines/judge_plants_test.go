package machines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/mutate"
)

// plant is a bug that is planted in some recipes, and what a walk says when it finds it.
type plant struct {
	recipes  []string
	mutation mutate.Mutation
	found    string
	walk     int64 // the first that finds it
}

// apply returns a recipe with the plant in it.
func (p *plant) apply(r engine.Recipe) engine.Recipe {
	if p == nil || !slices.Contains(p.recipes, r.Name()) {
		return r
	}
	return mutate.Recipe(r, p.mutation)
}

type (
	guarding = func(model any, ev events.Event, holds func(events.Event) bool) bool
	acting   = func(model any, ev events.Event, out *engine.Outbox, do func(events.Event))
)

func placeOf(model any) *place { return model.(interface{ inLine() *place }).inLine() }

// withoutFloor is a guard of a node whose machine accepts every token.
func withoutFloor(model any, ev events.Event, holds func(events.Event) bool) bool {
	p := placeOf(model)
	extras := p.extras
	p.extras = nil
	defer func() { p.extras = extras }()
	return holds(ev)
}

// asIfRead is a guard of a place that takes its node for read back.
func asIfRead(model any, ev events.Event, holds func(events.Event) bool) bool {
	p := placeOf(model)
	owned, watched := p.owned, p.watched
	p.owned, p.watched = true, true
	defer func() { p.owned, p.watched = owned, watched }()
	return holds(ev)
}

// blindWriter is a guard of a place that does not see readers if it is a writer's.
func blindWriter(model any, ev events.Event, holds func(events.Event) bool) bool {
	if p := placeOf(model); !p.shared {
		ev.Children = slices.DeleteFunc(slices.Clone(ev.Children),
			func(name string) bool { return strings.Contains(name, ReadLabel) })
	}
	return holds(ev)
}

func doing(name string, do acting) mutate.Mutation {
	return mutate.Mutation{Actions: map[string]acting{name: do}}
}

func guarded(g guarding, names ...string) mutate.Mutation {
	m := mutate.Mutation{Guards: map[string]guarding{}}
	for _, name := range names {
		m.Guards[name] = g
	}
	return m
}

var lineRecipes = []string{"latch", "selector", "election", "mutex", "readwrite"}

var (
	plantedInLines = map[string]plant{
		"a token below the floor is accepted": {lineRecipes, guarded(withoutFloor, "unacceptable"),
			"below its floor", 0},
		"a waiting place watches the first in line": {lineRecipes,
			doing("queueUp", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				p := placeOf(model)
				ahead := slices.Collect(p.placesAhead(ev.Children))
				ev.Children = []string{slices.MinFunc(ahead, inOrder).Name, p.own()}
				do(ev)
				p.nextInLine = false
			}), "not its predecessor", 0},
		"a create of the connection before confirms": {[]string{"session"},
			doing("attach", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				do(ev)
				model.(*session).attachedAt = 0
			}), "this connection began", 0},
		"a place that is closed leaves its node": {lineRecipes, guarded(
			func(any, events.Event, func(events.Event) bool) bool { return false }, "mayHaveNode"),
			"it has ended, and left", 0},
		"a writer does not see readers": {[]string{"readwrite"}, guarded(blindWriter, "isFirst", "mayLead"), "read", 0},
	}
	plantedInFlights = map[string]plant{
		"any listing is enough to lead": {lineRecipes, guarded(asIfRead, "mayLead"),
			"neither read back nor just made", 0},
		"the floor does not hold for a listing behind the create": {lineRecipes, guarded(withoutFloor, "mayLead"),
			"below its floor", 0},
		"the own node is read behind the predecessor": {lineRecipes,
			doing("queueUp", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				p := placeOf(model)
				behind := p.inFlightOf(ev)
				p.behindCreate = 0
				if do(ev); behind {
					p.nextInLine = true
					p.readOwn(out)
				}
			}), "before its own node", 0},
		"a term in one flight never watches its own node": {lineRecipes,
			doing("noteFirst", watchingOwn(func(*place, *engine.Outbox) {})), "nothing can wake it in leading", 0},
		"a term in one flight watches its own node late": {lineRecipes,
			doing("noteFirst", watchingOwn(func(_ *place, out *engine.Outbox) {
				out.Timer(ownWatchTimer, time.Second)
			})), "nothing can wake it in leading", 0},
		"a listing ahead of the create counts": {lineRecipes, mutate.Mutation{Actions: map[string]acting{
			"enrol": func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				p := placeOf(model)
				ahead, allowed := uint64(0), p.oneFlight
				if allowed && p.readBack {
					ahead = out.Children(p.ownDir)
				}
				p.oneFlight = false
				do(ev)
				p.oneFlight, p.behindCreate = allowed, ahead
			},
			"dropListing": func(any, events.Event, *engine.Outbox, func(events.Event)) {},
		}}, "nothing can wake it in listing", 0},
	}
	plantedInJobs = map[string]plant{
		"the marker is written without the latch": {[]string{"jobelection"},
			doing("writeMarker", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				c := model.(*jobElection)
				latch := c.latchNode
				c.latchNode = c.ownDir
				do(ev)
				c.latchNode = latch
			}), "without the latch", 6},
		"the seals of others stay": {[]string{"jobelection"},
			doing("writeMarker", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				ev.Children = nil
				do(ev)
			}), "and the seals are", 17},
		"any marker is deleted": {[]string{"jobelection"},
			doing("deleteMarker", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				model.(*jobElection).version = -1
				if ev.Stat != nil {
					stat := *ev.Stat
					stat.Version = -1
					ev.Stat = &stat
				}
				do(ev)
			}), "deletes the marker of", 48},
	}
	plantedInPermits = map[string]plant{
		"permits are not counted": {[]string{"semaphore"},
			guarded(func(any, events.Event, func(events.Event) bool) bool { return false }, "tooFewPermits"),
			"permits of 3", 0},
		"the limit's version is not checked": {[]string{"semaphore"},
			doing("take", func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
				model.(*semaphore).pool.version = -1
				do(ev)
			}), "is agreed", 5},
	}
)

// TestWalksFindPlantedBugs checks that the walks fail on bugs that are planted on purpose.
func TestWalksFindPlantedBugs(t *testing.T) {
	inLines := func(seed int64, p *plant) []string {
		w := newWorld(seed, p)
		return w.walk(func() { w.move(w.use, w.operate) })
	}
	walk := map[string]func(seed int64, p *plant) []string{
		"lines": inLines, "flights": inLines,
		"jobs": func(seed int64, p *plant) []string {
			w := newJobs(seed, p)
			return w.walk(w.step)
		},
		"permits": func(seed int64, p *plant) []string {
			w := newPermits(seed, p)
			return w.walk(func() { w.move(w.use, w.operate) })
		},
	}
	for kind, plants := range map[string]map[string]plant{"lines": plantedInLines, "flights": plantedInFlights,
		"jobs": plantedInJobs, "permits": plantedInPermits} {
		for name, p := range plants {
			t.Run(name, func(t *testing.T) {
				const most = 60
				for i := range int64(most) {
					seed := (p.walk + i) % most // a change of the machines moves some
					said := walk[kind](seed, &p)
					if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, p.found) }) {
						t.Logf("walk %d: %s", seed, said)
						return
					}
				}
				t.Errorf("no walk of %d says %q", most, p.found)
			})
		}
	}
}

// walk walks until something is wrong, and returns what.
func (w *world) walk(move func()) []string {
	for range 1500 {
		if move(); len(w.wrongs) > 0 {
			break
		}
	}
	return w.wrongs
}

// watchingOwn returns noteFirst, with something else for the timer of a term that begins in one flight.
func watchingOwn(instead func(*place, *engine.Outbox)) acting {
	return func(model any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
		p := placeOf(model)
		flight := p.inFlightOf(ev)
		p.behindCreate = 0
		if do(ev); flight {
			p.pinned = p.token
			instead(p, out)
		}
	}
}
