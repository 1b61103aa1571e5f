package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// bell is a part, ringer a part that has it, and tower a model that has that.
type (
	bell   struct{ rung int }
	ringer struct{ bell bell }
	tower  struct{ ringer }
)

func (b *bell) loud(ev events.Event) bool          { return ev.Text == "loud" }
func (b *bell) ring(events.Event, *Outbox)         { b.rung++ }
func (b *bell) echo(events.Event, *Outbox)         { b.rung += 10 }
func (r *ringer) theirs() *bell                    { return &r.bell }
func (m *tower) staff() *ringer                    { return &m.ringer }
func (m *tower) note(ev events.Event, out *Outbox) { out.Answer(ev.Request, events.OK, "") }
func liftedTwice(rows []Row[bell]) []Row[tower] {
	return Lift(Lift(rows, (*ringer).theirs), (*tower).staff)
}

var bellRows = []Row[bell]{
	{From: []State{up}, On: On(events.CommandStart), When: (*bell).loud, To: up, Do: (*bell).ring, Then: (*bell).echo},
}

func towerChart(rows ...Row[tower]) (*Compiled[tower], string) {
	chart := Chart[tower]{
		Name: "tower", States: []StateDoc{{Name: up, Doc: "Up."}, {Name: over, Doc: "Over."}}, Final: over,
		Kinds: []events.Kind{events.CommandStart, events.CommandClose},
		Rows: append(rows, Row[tower]{From: []State{up}, On: On(events.CommandStart), To: up, Do: (*tower).note},
			Row[tower]{From: []State{up}, On: On(events.CommandClose), To: over}),
	}
	c, problems := compile(chart.ofAny())
	return &Compiled[tower]{c}, strings.Join(problems, "\n")
}

// A lifted row acts on the part, and is named, drawn and mutated as the part's.
func TestLiftedRows(t *testing.T) {
	c, problems := towerChart(liftedTwice(bellRows)...)
	if problems != "" {
		t.Fatal(problems)
	}
	d := Describe(c)
	if r := d.Rows[0]; r.Label() != "command.start [loud]" || !slices.Equal(r.Actions, []string{"ring", "echo"}) ||
		d.Model != "tower" {
		t.Errorf("%s: %s / %v", d.Model, r.Label(), r.Actions)
	}
	m := Machine{Model: &tower{}, steppers: newSteppers(c.compiled, nil)}
	m.enter(up)
	for _, text := range []string{"loud", "low"} {
		m.deliver(&events.Event{Kind: events.CommandStart, Request: 1, Text: text}, &Outbox{})
	}
	if rung := m.Model.(*tower).bell.rung; rung != 11 {
		t.Errorf("rung %d times, want once with an echo", rung)
	}
	changed := Rewire(&recipe{steppers: newSteppers(c.compiled, nil)}, "changed", func(w *Wiring) {
		for i, action := range w.Actions {
			if action.Name == "echo" {
				w.Actions[i].Do = func(model any, _ events.Event, _ *Outbox) { model.(*tower).bell.rung = -1 }
			}
		}
	})
	m.steppers = changed.own().steppers
	m.deliver(&events.Event{Kind: events.CommandStart, Text: "loud"}, &Outbox{})
	if rung := m.Model.(*tower).bell.rung; rung != -1 {
		t.Errorf("a change of a lifted action left %d", rung)
	}
}

// What has no name in the part has none in the model, and rows that stay as they
// were are as before.
func TestLiftRefusesWhatHasNoName(t *testing.T) {
	rows := slices.Clone(bellRows)
	rows[0].Then = func(*bell, events.Event, *Outbox) {}
	_, problems := towerChart(liftedTwice(rows)...)
	if !strings.Contains(problems, "row 1 (command.start in up [loud]): action") ||
		!strings.Contains(problems, "is a closure or bound method") {
		t.Errorf("a closure in a part: %q", problems)
	}
	from := liftedTwice(bellRows)[0].From
	if from[0] = over; bellRows[0].From[0] != up {
		t.Error("a lifted row shares its states with the part's")
	}
	plain := liftedTwice([]Row[bell]{{From: []State{up}, On: On(events.CommandStart)}})
	if r := plain[0]; r.When != nil || r.Do != nil || r.Then != nil {
		t.Error("a row without guard and actions got some")
	}
}
