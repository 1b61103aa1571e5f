package machines

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// actor is a machine whose one action is a function of a test.
type actor struct{ do func(*engine.Outbox) }

func (a *actor) act(ev events.Event, out *engine.Outbox) { a.do(out) }

// answers are what actions ask for.
var answers = []events.Kind{events.ReplyCreate, events.ReplyDelete, events.ReplyStat, events.ReplyChildren,
	events.ReplyMulti, events.ReplySync, events.ReplyWatch, events.TimerFired}

// actorChart lets a command run the action.
var actorChart = engine.MustCompile(engine.Chart[actor]{
	Name:   "actor",
	Doc:    "Runs an action of a test.",
	States: []engine.StateDoc{{Name: latent, Doc: "Before the action."}, {Name: closed, Doc: "The machine has ended."}},
	Final:  closed,
	Kinds:  append([]events.Kind{events.CommandStart, events.CommandClose}, answers...),
	Rows: []engine.Row[actor]{
		{From: from{latent}, On: on(events.CommandStart), To: latent, Do: (*actor).act},
		{From: from{latent}, On: on(answers...), To: latent},
		{From: from{latent}, On: on(events.CommandClose), To: closed},
	},
})

// effects returns the effects of an action, in order.
func effects(t *testing.T, do func(*engine.Outbox)) (all []events.Effect) {
	t.Helper()
	e := engine.New(false, engine.NewRecipe(actorChart, func(events.Event) (*actor, error) { return &actor{do}, nil }))
	e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandOpen, Recipe: "actor"}})
	for _, one := range e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandStart}}) {
		all = append(all, one.Effect)
	}
	return all
}

// tells returns what an action tells other machines, as it stands in a record: such effects do not leave the engine.
func tells(t *testing.T, do func(*engine.Outbox)) (all []string) {
	t.Helper()
	e := engine.New(true, engine.NewRecipe(actorChart, func(events.Event) (*actor, error) { return &actor{do}, nil }))
	e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandOpen, Recipe: "actor"}})
	e.Step(events.Envelope{To: "actor", Event: events.Event{Kind: events.CommandStart}})
	for _, r := range e.Records() {
		for _, effect := range r.Effects.Strings() {
			if tell, ok := strings.CutPrefix(effect, "tell "); ok && r.Machine == "actor" {
				all = append(all, tell)
			}
		}
	}
	return all
}

// found returns the effects of one kind.
func found[E events.Effect](all []events.Effect) (those []E) {
	for _, one := range all {
		if e, ok := one.(E); ok {
			those = append(those, e)
		}
	}
	return those
}

// mustSend fails the test if the requests of an action are others than these.
func mustSend(t *testing.T, what string, all []events.Effect, want ...string) {
	t.Helper()
	var got []string
	for _, one := range all {
		switch e := one.(type) {
		case events.Create:
			got = append(got, "create "+e.Path)
		case events.Delete:
			got = append(got, "delete "+e.Path)
		case events.Exists:
			got = append(got, "exists "+e.Path)
		case events.Children:
			got = append(got, "children "+e.Path)
		case events.Sync:
			got = append(got, "sync "+e.Path)
		case events.Get:
			got = append(got, "get "+e.Path)
		case events.StopTimer:
			got = append(got, "stop")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: it sends %q, want %q", what, got, want)
	}
}
