package engine

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// A mutated chart does what it was told to do, and the one that it was made from
// goes on as before.
func TestMutate(t *testing.T) {
	refused := Edge{asking, "reply.create [made]", holding}
	wrong := Mutate(toys[1], Mutation{
		Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{
			"made": func(model any, ev events.Event, holds func(events.Event) bool) bool {
				return model.(*worker).name == "a" && !holds(ev)
			}},
		Actions: map[string]func(any, events.Event, *Outbox, func(events.Event)){
			"ask": func(model any, ev events.Event, out *Outbox, do func(events.Event)) {
				do(ev)
				out.Discard("/more")
			}},
		Detours: []Detour{{refused, pausing}},
	})
	run := func(r Recipe) string {
		s := &scene{Engine: New(true, toys[0], r)}
		s.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "link"})
		s.feed("a", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
		s.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
		asked := s.feed("a", events.Event{Kind: events.CommandStart, Request: 2})
		s.feed("a", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NodeExists})
		return string(s.State("a")) + map[bool]string{true: ", more"}[strings.Contains(asked, "/more")]
	}
	want(t, "mutated", run(wrong), "pausing, more")
	want(t, "as it was", run(toys[1]), "asking")
	if wrong.Digest() == toys[1].Digest() {
		t.Error("a log of the mutated chart would replay on the right one")
	}
}

// What a mutation names has to be there: else a planted bug would be none.
func TestMutateWhatIsNotThere(t *testing.T) {
	for name, m := range map[string]Mutation{
		"guard nobody":                      {Guards: map[string]func(any, events.Event, func(events.Event) bool) bool{"nobody": nil}},
		"action nothing":                    {Actions: map[string]func(any, events.Event, *Outbox, func(events.Event)){"nothing": nil}},
		"ready --reply.create--> nowhere":   {Detours: []Detour{{Edge{ready, "reply.create", "nowhere"}, over}}},
		"asking --command.start--> holding": {Detours: []Detour{{Edge{asking, "command.start", holding}, over}}},
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, name) {
					t.Errorf("%s: %q", name, said)
				}
			}()
			Mutate(toys[1], m)
		}()
	}
}
