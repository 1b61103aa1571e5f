package engine

import (
	"fmt"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// Each request takes the modifiers that its comment names, and no other.
func TestARequestTakesItsModifiers(t *testing.T) {
	requests := []struct {
		ask   func(*Outbox) uint64
		takes Modifier
	}{
		{func(o *Outbox) uint64 { return o.Create(events.Op{Path: "/n"}) }, 0},
		{func(o *Outbox) uint64 { return o.Delete("/n") }, Unawaited},
		{func(o *Outbox) uint64 { return o.Get("/n") }, Watch | Data | ForUser},
		{func(o *Outbox) uint64 { return o.Exists("/n") }, Watch | ForUser | Urgent},
		{func(o *Outbox) uint64 { return o.Children("/n") }, Watch | ForUser},
		{func(o *Outbox) uint64 { return o.Multi(events.Check("/n")) }, ForUser | Urgent},
		{func(o *Outbox) uint64 { return o.Sync("/n") }, Urgent | Unawaited},
	}
	for _, r := range requests {
		for _, m := range []Modifier{Watch, Data, ForUser, Urgent, Unawaited} {
			out := &Outbox{pending: &pending{}}
			refused := refusal(func() { r.ask(out.With(m)) })
			want(t, "taken: "+m.String(), refused == "(it was accepted)", r.takes&m != 0)
			if r.takes&m == 0 {
				continue
			}
			asked := out.effects[0].(events.Request).Header()
			want(t, fmt.Sprint(out.effects[0], ": for the user"), asked.Keep, m == ForUser)
			want(t, fmt.Sprint(out.effects[0], ": awaited"), len(out.pending.open) == 1, m != Unawaited)
			want(t, "modifiers left for the next request", out.how, Modifier(0))
		}
	}
}

func TestModifiersJoin(t *testing.T) {
	out := &Outbox{pending: &pending{}}
	out.With(Watch | Data).Get("/n")
	want(t, "get", out.effects[0].String(), "#1 get /n data watch")
	want(t, "words", (Watch | Data).String(), "Watch|Data")
	want(t, "refusal", refusal(func() { out.With(Watch | Unawaited).Get("/n") }),
		"engine: a request that is answered by reply.stat does not take the modifier Unawaited: see Modifier")
}

// A row that gives modifiers to no request is found by its first step.
func TestModifiersNeedARequest(t *testing.T) {
	r := newSteppers(MustCompile(workerTable()).compiled, nil)
	hesitate := func(_ any, _ *events.Event, out *Outbox) { out.With(Watch) }
	r.arrows[key{ready, events.CommandStart}][0].acts = []act{{"hesitate", hesitate}}
	m := &Machine{Model: &worker{}, steppers: r}
	m.enter(ready)
	got := refusal(func() { m.deliver(&events.Event{Kind: events.CommandStart, Request: 1}, &Outbox{}) })
	want(t, "refusal", got, `engine: chart worker: row "command.start" asks for nothing with the modifier Watch`)
}
