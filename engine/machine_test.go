package engine

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

func TestGuardsAreTriedInOrder(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	model(s, "w").did = nil
	s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NoAuth})
	r := s.records[len(s.records)-1]
	want(t, "guards tried", r.Tried, []string{"made", "taken"})
	want(t, "row", r.Row, "reply.create")
	want(t, "what ran", model(s, "w").did, []string{"made?", "taken?", "note"})
}

func TestFirstGuardThatHoldsWins(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	model(s, "w").did = nil
	s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1, Path: "/n1"})
	want(t, "what ran", model(s, "w").did, []string{"made?", "note"})
	want(t, "state", s.State("w"), holding)
	want(t, "row", s.records[len(s.records)-1].Row, "reply.create [made]")
}

// A row that stays runs its action, once, and leaves what is awaited alone.
func TestSelfTransition(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	before := len(model(s, "w").did)
	got := s.feed("w", events.Event{Kind: events.ReplyStat, Request: 2})
	want(t, "effects", got, "")
	want(t, "state", s.State("w"), asking)
	want(t, "actions run", len(model(s, "w").did)-before, 1)
	got = s.feed("w", events.Event{Kind: events.TimerFired, Request: 3})
	want(t, "effects of the timer, which still ran", got, "w: #4 timer pause 1m0s\nw: entered pausing")
}

func TestTimersAreStoppedWhenTheStateHasNoRowForThem(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	got := s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1})
	want(t, "effects", got, "session: valid until 100ns\nw: stop timer #3\nw: entered holding")
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 3})
	want(t, "row of a timer that fired all the same", s.records[len(s.records)-1].Row, events.RowLate)
	s.feed("w", events.Event{Kind: events.ReplyStat, Request: 2})
	want(t, "row of an answer that the new state awaits too", s.records[len(s.records)-1].Row, "reply.stat")
}

func TestAnswersAreDroppedWhenTheStateHasNoRowForThem(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 3}) // to pausing
	s.feed("w", events.Event{Kind: events.ReplyStat, Request: 2})
	want(t, "row", s.records[len(s.records)-1].Row, events.RowLate)
	want(t, "state", s.State("w"), pausing)
}

// A create may have made a node, so its answer is owed whatever happens.
func TestOwedCreatesAreKept(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 3}) // to pausing
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 4}) // to asking, which asks again
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 7}) // to pausing
	for _, request := range []uint64{1, 5} {
		s.feed("w", events.Event{Kind: events.ReplyCreate, Request: request})
		r := s.records[len(s.records)-1]
		want(t, "row", r.Row, "reply.create")
		s.feed("w", events.Event{Kind: events.ReplyCreate, Request: request})
		want(t, "row of a second answer", s.records[len(s.records)-1].Row, events.RowLate)
	}
}

// An answer of another kind than the request is nobody's, and the request's own
// is still awaited.
func TestAnswerOfTheWrongKindIsLate(t *testing.T) {
	s := newScene("w")
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	s.feed("w", events.Event{Kind: events.ReplyStat, Request: 3}) // 3 is the timer
	want(t, "row", s.records[len(s.records)-1].Row, events.RowLate)
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 3})
	want(t, "row of the timer", s.records[len(s.records)-1].Row, "timer.fired")
}

// What a row asks for, its state must have a row for.
func TestMustHaveRows(t *testing.T) {
	s := newScene("w")
	got := refusal(func() { s.feed("w", events.Event{Kind: events.CommandResign, Request: 1}) })
	if !strings.Contains(got, `chart worker: row "command.resign" into ready asks for children`) {
		t.Error(got)
	}
}

func TestIgnoredEventsAreWrittenDown(t *testing.T) {
	s := newScene("w")
	got := s.feed("w", events.Event{Kind: events.WatchDeleted, Path: "/x"})
	r := s.records[len(s.records)-1]
	want(t, "effects", got, "")
	want(t, "row", r.Row, events.RowIgnored)
	want(t, "from and to", r.From+" "+r.To, "ready ready")
}

// A row's second action follows its first, and sees what that one left.
func TestThenFollowsDo(t *testing.T) {
	table := workerTable()
	for i, r := range table.Rows {
		if r.On.Has(events.CommandResign) {
			table.Rows[i].Do, table.Rows[i].Then = (*worker).note, (*worker).beg
		}
	}
	c := MustCompile(table)
	model, out := &worker{}, &Outbox{pending: &pending{}}
	newStepper(c.compiled).step(model, ready, &events.Event{Kind: events.CommandResign}, out)
	want(t, "what ran first", model.did, []string{"note"})
	want(t, "effects of the second", len(out.effects), 1)
	for _, r := range Describe(c).Rows {
		if slices.Contains(r.On, events.CommandResign) {
			want(t, "as drawn", r.Action(), "note, beg")
		}
	}
	mutated := Rewire(NewRecipe(c, func(events.Event) (*worker, error) { return model, nil }), "mutated",
		func(w *Wiring) {
			for i := range w.Actions {
				if w.Actions[i].Name == "beg" {
					w.Actions[i].Do = func(any, events.Event, *Outbox) {}
				}
			}
		})
	s := &scene{Engine: New(true, toys[0], mutated)}
	s.feed("w", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
	want(t, "effects without the second", s.feed("w", events.Event{Kind: events.CommandResign}), "")
	want(t, "what ran", model.did, []string{"note", "note"})
}

// A stepper is shared by all machines of a chart, so one machine's step must leave
// no trace of it.
func TestMachinesOfOneChartDoNotMix(t *testing.T) {
	s := newScene("a", "b")
	s.feed("a", events.Event{Kind: events.CommandStart, Request: 1})
	want(t, "b", s.State("b"), ready)
	s.feed("b", events.Event{Kind: events.CommandStart, Request: 2})
	s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1})
	want(t, "states", []State{s.State("a"), s.State("b")}, []State{holding, asking})
	want(t, "models", []int{len(model(s, "a").seen), len(model(s, "b").seen)}, []int{2, 1})
}

// A stepper that no longer matches its chart is found out at the first step.
func TestStepperPanicsWhenLooplabDisagrees(t *testing.T) {
	c := MustCompile(workerTable())
	r := newStepper(c.compiled)
	model, out := &worker{}, &Outbox{pending: &pending{}}
	group := c.arrows[key{ready, events.CommandStart}]
	group[0].to = holding // looplab goes to asking
	got := refusal(func() { r.step(model, ready, &events.Event{Kind: events.CommandStart}, out) })
	if !strings.Contains(got, `row "command.start" from ready led to asking instead of holding`) {
		t.Error(got)
	}
	group[0].name = "command.strat"
	got = refusal(func() { r.step(model, ready, &events.Event{Kind: events.CommandStart}, out) })
	if !strings.Contains(got, `refused its own row "command.strat"`) {
		t.Error(got)
	}
}

func TestOutboxWritesWhatWasAsked(t *testing.T) {
	out := &Outbox{session: 7, pending: &pending{}}
	out.Create(events.Op{Path: "/c", Mode: events.Container})
	out.Delete("/d")
	out.With(Unawaited).Delete("/e")
	out.With(Watch).Get("/f")
	out.Exists("/g")
	out.Children("/h")
	out.With(Urgent).Multi(events.Check("/i"))
	out.With(Unawaited).Sync("/j")
	out.With(Urgent).Sync("/k")
	n := out.Timer("t", time.Second)
	out.StopTimer(n)
	out.StopTimer(n)
	out.Notify(events.Notify{What: events.Failed, Code: events.NoAuth})
	out.Deadline(7, 0, 0)
	var got []string
	for _, e := range out.effects {
		if r, ok := e.(events.Request); ok && r.Header().Session != 7 {
			t.Errorf("%s is of session %d", e, r.Header().Session)
		}
		got = append(got, e.String())
	}
	want(t, "effects", strings.Join(got, "\n"), strings.TrimSpace(`
#1 create /c container
#2! delete /d
#3! delete /e
#4 get /f watch
#5 exists /g
#6 children /h
#7! multi {check /i}
#8 sync /j
#9! sync /k
#10 timer t 1s
stop timer #10
notify failed NOAUTH
valid until: unconfirmed`))
	var open []uint64
	for _, a := range out.pending.open {
		open = append(open, a.number)
	}
	want(t, "awaited", open, []uint64{1, 2, 4, 5, 6, 7, 9})
	out.DropPending()
	want(t, "awaited after Forget", len(out.pending.open), 0)
}

func TestForgetStopsTimersAndKeepsOwedCreates(t *testing.T) {
	out := &Outbox{pending: &pending{}}
	out.Create(events.Op{Path: "/e", Mode: events.Ephemeral})
	out.Timer("t", time.Second)
	out.Get("/f")
	out.effects = nil
	out.DropPending()
	want(t, "effects", out.effects, []events.Effect{events.StopTimer{Request: 2}})
	want(t, "still awaited", len(out.pending.open), 1)
}

// Engines step machines of one chart at the same time: each step has a stepper of its own, and
// uses one of those that are idle.
func TestEnginesShareSteppers(t *testing.T) {
	const engines, rounds = 8, 200
	var all sync.WaitGroup
	for range engines {
		all.Go(func() {
			s := newScene()
			for i := range rounds {
				id := events.ID(fmt.Sprint(i))
				s.feed(id, events.Event{Kind: events.CommandOpen, Recipe: "worker"})
				s.feed(id, events.Event{Kind: events.CommandStart, Request: 1})
				s.feed(id, events.Event{Kind: events.ReplyCreate, Request: 1})
				if got, seen := s.State(id), len(model(s, id).seen); got != holding || seen != 2 {
					t.Errorf("machine %s is in %s and saw %d events", id, got, seen)
				}
			}
		})
	}
	all.Wait()
	steppers := toys[1].own().steppers
	if idle := len(steppers.idle); idle < 1 || idle > engines {
		t.Errorf("%d steppers are idle after the steps of %d engines", idle, engines)
	}
	r := steppers.take()
	defer steppers.give(r)
	if other := steppers.take(); other == r {
		t.Error("two steps got one stepper")
	}
}
