package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// opener is a machine that opens another, whose recipe its engine need not know.
type opener struct{ opens Recipe }

func (o *opener) open(ev events.Event, out *Outbox) {
	out.Open("w", o.opens, events.Event{Path: "/w"})
	out.Answer(ev.Request, events.OK, "")
}

func openerChart() (c Chart[opener]) {
	c.States = []StateDoc{{Name: ready, Doc: "Not asked."}, {Name: over, Doc: "Over."}}
	c.Final = over
	c.Kinds = []events.Kind{events.CommandStart}
	c.Rows = []Row[opener]{{From: []State{ready}, On: On(events.CommandStart), To: over, Do: (*opener).open}}
	return c
}

// countedOpener returns a recipe of openers, and how often its chart was made.
func countedOpener(opens Recipe) (r *RecipeOf[opener], made *atomic.Int32) {
	made = &atomic.Int32{}
	return &RecipeOf[opener]{
		Named: "opener",
		Chart: func() Chart[opener] { made.Add(1); return openerChart() },
		Open:  func(events.Event) (*opener, error) { return &opener{opens}, nil },
	}, made
}

// A recipe's chart is compiled when it is used for the first time, once, by whatever goroutine that is.
func TestARecipeIsCompiledAtItsFirstUse(t *testing.T) {
	r, made := countedOpener(nil)
	e := New(true, append(slices.Clone(toys), r)...)
	e.Step(events.Envelope{To: "w", Event: events.Event{Kind: events.CommandOpen, Recipe: "worker"}})
	want(t, "compiled by an engine that opens another recipe", made.Load(), 0)
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() { _ = r.Digest() })
	}
	users.Wait()
	e.Step(events.Envelope{To: "o", Event: events.Event{Kind: events.CommandOpen, Recipe: "opener"}})
	want(t, "compiled", made.Load(), 1)
	want(t, "state", e.State("o"), ready)
	want(t, "its name", []string{r.Name(), r.Describe().Name}, []string{"opener", "opener"})
}

// With gives the same chart other models.
func TestARecipeWithOtherModels(t *testing.T) {
	r, made := countedOpener(nil)
	other := r.With(func(events.Event) (*opener, error) { return &opener{toys[1]}, nil })
	e := New(true, other)
	e.Step(events.Envelope{To: "o", Event: events.Event{Kind: events.CommandOpen, Recipe: "opener"}})
	want(t, "model", e.machines["o"].Model.(*opener).opens.Name(), "worker")
	want(t, "digest", []any{other.Digest(), made.Load()}, []any{r.Digest(), 1})
}

// A machine may open another of a recipe that nobody gave to the engine. Of two with one name, the engine keeps its
// own.
func TestAMachineOpensARecipeThatTheEngineDidNotKnow(t *testing.T) {
	for known, path := range map[bool]string{false: "/w", true: "mine"} {
		r, _ := countedOpener(toys[1])
		e := New(true, r)
		if known {
			mine := func(events.Event) (*worker, error) { return &worker{watch: "mine"}, nil }
			e = New(true, r, NewRecipe(workerChart, mine))
		}
		e.Step(events.Envelope{To: "w", Event: events.Event{Kind: events.CommandOpen, Recipe: "nobody's"}})
		want(t, "an unknown recipe", e.Records()[0].Row, events.RowRefused)
		e.Step(events.Envelope{To: "o", Event: events.Event{Kind: events.CommandOpen, Recipe: "opener"}})
		e.Step(events.Envelope{To: "o", Event: events.Event{Kind: events.CommandStart, Request: 1}})
		if e.State("w") != ready {
			t.Fatalf("the worker is in the state %q", e.State("w"))
		}
		want(t, "path", e.machines["w"].Model.(*worker).watch, path)
		want(t, "record", e.Records()[1].Chart, workerChart.Digest())
	}
}

// A loop learns a recipe before what is posted after that, and each once.
func TestALoopLearnsRecipes(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := &stage{hands: &hands{}}
		s.Loop = NewLoop(New(false), s.hands, bubble{time.Now()}, nil)
		s.run()
		for range 3 {
			for _, r := range toys {
				s.Learn(r)
			}
		}
		s.post(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "link"})
		s.post("w", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
		synctest.Wait()
		s.end()
		want(t, "states", []State{s.engine.State(events.SessionMachine), s.engine.State("w")}, []State{down, ready})
		want(t, "recipes", len(s.engine.recipes.all), len(toys))
	})
}
