package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// obedient does what an event's text says.
type obedient struct{}

func (o *obedient) Stamp(*events.Event)        {}
func (o *obedient) StampOpen(*events.Event)    {}
func (o *obedient) Current() int64             { return 1 }
func (o *obedient) Confirms(events.Event) bool { return false }

func (o *obedient) obey(ev events.Event, out *engine.Outbox) {
	verb, argument, _ := strings.Cut(ev.Text, " ")
	number := int64(0)
	_, _ = fmt.Sscan(argument, &number)
	switch verb {
	case "elected":
		out.Notify(events.Notify{What: events.Elected, Token: number})
	case "stopped":
		out.Notify(events.Notify{What: events.Stopped})
	case "deadline":
		out.Deadline(1, number, 100+number)
	case "alone":
		out.Deadline(1, 50, number)
	case "timer":
		out.Timer(argument, time.Second)
	case "ask":
		for range number {
			out.Exists("/")
		}
	case "notify":
		for range number {
			out.Notify(events.Notify{What: events.Waiting})
		}
	case "tell":
		for range number {
			out.Tell(events.SessionMachine, events.Event{Kind: events.WorkReturned})
		}
	}
}

var obedientRecipe = engine.NewRecipe(engine.MustCompile(engine.Chart[obedient]{
	Name:   "obedient",
	States: []engine.StateDoc{{Name: "open"}, {Name: "over"}},
	Final:  "over",
	Kinds: []events.Kind{events.WorkReturned, events.ConnectionAttached, events.ReplyStat, events.TimerFired,
		events.CommandClose},
	Rows: []engine.Row[obedient]{
		{From: []engine.State{"open"}, On: engine.On(events.WorkReturned), To: engine.Stay, Do: (*obedient).obey},
		{From: []engine.State{"open"}, On: engine.On(events.ConnectionAttached, events.ReplyStat, events.TimerFired),
			To: engine.Stay},
		{From: []engine.State{"open"}, On: engine.On(events.CommandClose), To: "over"},
	},
}), func(events.Event) (*obedient, error) { return &obedient{}, nil })

// TestBrokenInvariants checks that each invariant is checked, that the panic says where it was
// broken, and that nothing is checked unless a test asks for it.
func TestBrokenInvariants(t *testing.T) {
	for _, c := range []struct{ texts, broken string }{
		{"elected 5, elected 6", "a term begins within a term"},
		{"stopped", "a term ends that has not begun"},
		{"elected 5, stopped, elected 6, stopped", ""},
		{"elected 5, stopped, elected 4", "the token falls from 5 to 4 on one connection"},
		{"elected 5, stopped, attached, elected 4", ""},
		{"deadline 50, deadline 40", ""},
		{"deadline 50, elected 5, deadline 60, deadline 0, deadline 40", ""},
		{"deadline 50, elected 5, deadline 40", "the deadline moves back by 10ns during a term"},
		{"deadline 50, elected 5, alone 140", "AloneUntil moves back by 10ns during a term"},
		{"deadline 50, other elected 5, other close, deadline 40", ""}, // a machine that is over leads no more
		{"deadline 50, other elected 5, deadline 40", "the deadline moves back by 10ns during a term"},
		{"timer a, timer b", ""},
		{"timer a, timer a", `two timers "a" run`},
		{"ask 200", ""},
		{"ask 201", "it awaits 201 replies and timers, of at most 200"},
		{"notify 5003", "it asks for 5003 effects in one step, of at most 5002"},
		{"tell 151", "machines tell each other 152 events in one step, of at most 150"},
	} {
		if got := playTexts(c.texts, true); got == "" != (c.broken == "") ||
			!strings.HasSuffix(got, "broken invariant: "+c.broken) && c.broken != "" {
			t.Errorf("%s: %q, want %q", c.texts, got, c.broken)
		} else if c.broken != "" &&
			!strings.HasPrefix(got, "engine: machine session (obedient) in open, event work.returned: ") {
			t.Errorf("%s: %q does not say where", c.texts, got)
		}
		if got := playTexts(c.texts, false); got != "" {
			t.Errorf("%s: nobody asked for it: %q", c.texts, got)
		}
	}
}

// playTexts has a machine do what the texts say, and returns what it panics with.
func playTexts(texts string, checked bool) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	e := engine.New(false, obedientRecipe)
	if checked {
		e.CheckInvariants()
	}
	const other = "other"
	for _, id := range []events.ID{events.SessionMachine, other} {
		e.Step(events.Envelope{To: id, Event: events.Event{Kind: events.CommandOpen, Recipe: "obedient"}})
	}
	for _, text := range strings.Split(texts, ", ") {
		id := events.ID(events.SessionMachine)
		if rest, is := strings.CutPrefix(text, "other "); is {
			id, text = other, rest
		}
		ev := events.Event{Kind: events.WorkReturned, Text: text}
		switch text {
		case "attached":
			ev.Kind = events.ConnectionAttached
		case "close":
			ev.Kind = events.CommandClose
		}
		e.Step(events.Envelope{To: id, Event: ev})
	}
	return ""
}
