package mutate

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// toy reads until an event has a text.
type toy struct{ name string }

func (y *toy) told(ev events.Event) bool               { return ev.Text != "" }
func (y *toy) ask(ev events.Event, out *engine.Outbox) { out.With(engine.Unawaited).Delete("/asked") }
func (y *toy) Stamp(ev *events.Event)                  {}
func (y *toy) StampOpen(*events.Event)                 {}
func (y *toy) Current() int64                          { return 1 }
func (y *toy) Confirms(events.Event) bool              { return false }

var chart = engine.MustCompile(engine.Chart[toy]{
	Name:   "toy",
	States: []engine.StateDoc{{Name: "asking"}, {Name: "choosing"}, {Name: "told"}, {Name: "over"}},
	Final:  "over",
	Kinds:  []events.Kind{events.WorkReturned, events.CommandClose},
	Rows: []engine.Row[toy]{
		{From: []engine.State{"asking", "told"}, On: engine.On(events.WorkReturned), To: "choosing", Do: (*toy).ask},
		{From: []engine.State{"choosing"}, On: engine.On(engine.AtOnce), When: (*toy).told, To: "told"},
		{From: []engine.State{"choosing"}, On: engine.On(engine.AtOnce), To: "asking"},
		{From: []engine.State{"asking", "told"}, On: engine.On(events.CommandClose), To: "over"},
	},
})

var right = engine.NewRecipe(chart, func(open events.Event) (*toy, error) { return &toy{open.Seed}, nil })

// run sends an event to a toy, and returns its state and its requests.
func run(t *testing.T, r engine.Recipe, name, text string) string {
	t.Helper()
	e := engine.New(true, r)
	e.Step(events.Envelope{To: events.SessionMachine,
		Event: events.Event{Kind: events.CommandOpen, Recipe: "toy", Seed: name}})
	var did []string
	for _, a := range e.Step(
		events.Envelope{To: events.SessionMachine, Event: events.Event{Kind: events.WorkReturned, Text: text}}) {
		if d, ok := a.Effect.(events.Delete); ok {
			did = append(did, d.Path)
		}
	}
	return string(e.State(events.SessionMachine)) + " " + strings.Join(did, " ")
}

// A mutated chart has the planted bugs, and the original one
// goes on as before.
func TestRecipe(t *testing.T) {
	deaf := Mutation{Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{
		"told": func(model any, ev events.Event, holds func(events.Event) bool) bool {
			return model.(*toy).name != "deaf" && holds(ev)
		}}}
	twice := Mutation{Actions: map[string]func(any, events.Event, *engine.Outbox, func(events.Event)){
		"ask": func(_ any, ev events.Event, out *engine.Outbox, do func(events.Event)) {
			do(ev)
			out.With(engine.Unawaited).Delete("/more")
		}}}
	astray := Mutation{Detours: []Detour{{engine.Edge{From: "choosing", Name: "else", To: "asking"}, "over"}}}
	for _, c := range []struct {
		what, name, text string
		r                engine.Recipe
		want             string
	}{
		{"as it was", "deaf", "news", right, "told /asked"},
		{"a guard", "deaf", "news", Recipe(right, deaf), "asking /asked"},
		{"a guard that asks the right one", "toy", "news", Recipe(right, deaf), "told /asked"},
		{"an action", "toy", "news", Recipe(right, twice), "told /asked /more"},
		{"a detour out of a choice", "toy", "", Recipe(right, astray), " /asked"}, // over, and forgotten,
		{"as it was, at the end", "toy", "", right, "asking /asked"},
	} {
		if got := run(t, c.r, c.name, c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if Recipe(right, deaf).Digest() == right.Digest() {
		t.Error("a log of the mutated chart would replay on the right one")
	}
}

// A mutation may name only what is in the chart: else it would plant no bug.
func TestRecipeWhatIsNotThere(t *testing.T) {
	for name, m := range map[string]Mutation{
		"guard nobody": {
			Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"nobody": nil}},
		"action nothing": {
			Actions: map[string]func(any, events.Event, *engine.Outbox, func(events.Event)){"nothing": nil}},
		"choosing --[told]--> nowhere": {
			Detours: []Detour{{engine.Edge{From: "choosing", Name: "[told]", To: "nowhere"}, "over"}}},
		"told --command.close--> asking": {
			Detours: []Detour{{engine.Edge{From: "told", Name: "command.close", To: "asking"}, "over"}}},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, name) {
					t.Errorf("%s: %q", name, said)
				}
			}()
			Recipe(right, m)
		}()
	}
}
