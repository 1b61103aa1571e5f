package engine

import (
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// choosing is the choice of a worker.
const choosing State = "choosing"

func (w *worker) unlucky(ev events.Event) bool {
	w.did = append(w.did, "unlucky?")
	return ev.Code != events.OK && ev.Code != events.NodeExists
}

func (w *worker) stamp(ev events.Event, out *Outbox) {
	w.did = append(w.did, "stamp")
	out.Timer("grace", 1)
}

// chooserTable is workerTable, but for its choice: what comes of an answer that
// is not made, and after a pause.
func chooserTable() Chart[worker] {
	c := workerTable()
	c.States = append(c.States, StateDoc{Name: choosing, Doc: "What comes next is decided at once."})
	c.Rows[2].To, c.Rows[2].Do = choosing, (*worker).stamp // taken
	c.Rows[3].To, c.Rows[3].Do = choosing, (*worker).note  // else
	c.Rows[7].To, c.Rows[7].Do = choosing, nil             // pausing: timer.fired
	c.Rows[12] = Row[worker]{From: c.Rows[12].From, On: On(events.WorkReturned), To: choosing, Do: (*worker).note}
	c.Rows = append(c.Rows,
		Row[worker]{From: []State{choosing}, On: On(AtOnce), When: (*worker).unlucky, To: pausing,
			Do: (*worker).dawdle},
		Row[worker]{From: []State{choosing}, On: On(AtOnce), When: (*worker).taken, To: asking, Do: (*worker).note},
		Row[worker]{From: []State{choosing}, On: On(AtOnce), To: ready, Do: (*worker).note})
	return c
}

var chooserChart = MustCompile(chooserTable())

func newChooser() *scene {
	s := &scene{Engine: New(true, toys[0], NewRecipe(chooserChart, func(open events.Event) (*worker, error) {
		return &worker{name: open.Name, watch: open.Path}, nil
	}))}
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandOpen, Recipe: "link"})
	s.feed("w", events.Event{Kind: events.CommandOpen, Recipe: "worker"})
	s.feed(events.SessionMachine, events.Event{Kind: events.CommandStart, Request: 1})
	s.feed("w", events.Event{Kind: events.CommandStart, Request: 1})
	model(s, "w").did = nil
	return s
}

func last(s *scene) events.Record { return s.records[len(s.records)-1] }

// A choice goes on in the step that led there, with the same event and outbox.
func TestAChoiceIsDecidedInOneStep(t *testing.T) {
	s := newChooser()
	before := len(s.records)
	got := s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NoAuth})
	want(t, "records", len(s.records)-before, 1)
	want(t, "row", last(s).Row, "reply.create > [unlucky]")
	want(t, "from and to", last(s).From+" "+last(s).To, "asking pausing")
	want(t, "guards tried, of both halves", last(s).Tried, []string{"made", "taken"})
	want(t, "what ran", model(s, "w").did, []string{"made?", "taken?", "note", "unlucky?", "note"})
	seen := model(s, "w").seen
	want(t, "the event of the second half", seen[len(seen)-1], seen[len(seen)-2])
	want(t, "effects", got, "w: #4 timer pause 1m0s\nw: entered pausing")
}

func TestAChoiceTriesItsRowsInOrder(t *testing.T) {
	s := newChooser()
	s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NodeExists})
	want(t, "row", last(s).Row, "reply.create [taken] > [taken]")
	want(t, "guards tried", last(s).Tried, []string{"made", "unlucky"})
	s.feed("w", events.Event{Kind: events.WorkReturned})
	want(t, "row", last(s).Row, "work.returned > else")
	want(t, "guards tried", last(s).Tried, []string{"unlucky", "taken"})
	want(t, "from and to", last(s).From+" "+last(s).To, "asking ready")
}

// What is awaited is counted from the state before to the state after: a way
// through a choice back to where it began has changed nothing.
func TestAwaitsAcrossAChoice(t *testing.T) {
	s := newChooser()
	s.feed("w", events.Event{Kind: events.ReplyCreate, Request: 1, Code: events.NodeExists})
	want(t, "from and to", last(s).From+" "+last(s).To, "asking asking")
	s.feed("w", events.Event{Kind: events.ReplyStat, Request: 2})
	want(t, "row of an answer that was asked for before", last(s).Row, "reply.stat")
	s.feed("w", events.Event{Kind: events.TimerFired, Request: 4})
	want(t, "row of the first half's timer", last(s).Row, "timer.fired")

	s = newChooser()
	got := s.feed("w", events.Event{Kind: events.WorkReturned})
	want(t, "effects into ready", got, "w: stop timer #3\nw: entered ready")
	s.feed("w", events.Event{Kind: events.ReplyStat, Request: 2})
	want(t, "row of an answer that the state after has no row for", last(s).Row, events.RowLate)
}

// What the first half asks for, the state after has to have a row for.
func TestAChoiceMustHaveRowsForBothHalves(t *testing.T) {
	c := chooserTable()
	c.Rows[12].Do = (*worker).stamp // a timer, which ready does not hear
	chart := MustCompile(c)
	m := &Machine{Model: &worker{}, steppers: newSteppers(chart.compiled, nil)}
	m.enter(asking)
	got := refusal(func() { m.deliver(&events.Event{Kind: events.WorkReturned}, &Outbox{}) })
	if !strings.Contains(got, `chart worker: row "work.returned > else" into ready asks for timer.fired, but that `+
		`state has no row for it`) {
		t.Error(got)
	}
}

// The log names the arrows of both halves, and looplab holds them: each of its
// edges is a drawn one.
func TestLooplabHoldsTheEdgesOfAChoice(t *testing.T) {
	r := chooserChart
	held := map[Edge]bool{}
	for _, e := range r.Looplab() {
		held[e] = true
	}
	drawn := Describe(r).Edges()
	want(t, "edges", len(held), len(drawn))
	for _, e := range append(drawn, Edge{choosing, "else", ready}, Edge{choosing, "[taken]", asking}) {
		if !held[e] {
			t.Errorf("looplab lacks %s", e)
		}
	}
}

func TestTheDigestChangesWithAChoice(t *testing.T) {
	for name, change := range map[string]func(*Chart[worker]){
		"order":  func(c *Chart[worker]) { c.Rows[14], c.Rows[15] = c.Rows[15], c.Rows[14] },
		"guard":  func(c *Chart[worker]) { c.Rows[14].When = plainly },
		"target": func(c *Chart[worker]) { c.Rows[16].To = holding },
		"action": func(c *Chart[worker]) { c.Rows[16].Do = nil },
	} {
		c := chooserTable()
		change(&c)
		if MustCompile(c).Digest() == chooserChart.Digest() {
			t.Errorf("another %s in the choice, and the same digest", name)
		}
	}
}

// Each of these changes breaks a good choice in one way.
func TestMustCompileRefusesChoices(t *testing.T) {
	for _, r := range []struct {
		name  string
		spoil func(*Chart[worker])
		says  string
	}{
		{"it hears something", func(c *Chart[worker]) { c.Rows[13].From = append(c.Rows[13].From, choosing) },
			"command.close in choosing: a choice gets no event"},
		{"no else", func(c *Chart[worker]) { c.Rows = c.Rows[:16] },
			"at once in choosing: no row for when [taken] does not hold either"},
		{"a row after the else", func(c *Chart[worker]) { c.Rows[15], c.Rows[16] = c.Rows[16], c.Rows[15] },
			"at once in choosing: a row stands after the one without a guard"},
		{"it stays", func(c *Chart[worker]) { c.Rows[14].To = Stay },
			"(at once in choosing [unlucky]): a choice cannot stay: say where it leads"},
		{"it leads to itself", func(c *Chart[worker]) { c.Rows[16].To = choosing },
			"(at once in choosing): a choice cannot stay"},
		{"it leads to another", func(c *Chart[worker]) {
			c.States = append(c.States, StateDoc{Name: "again", Doc: "Another."})
			c.Rows[16].To = "again"
			c.Rows = append(c.Rows, Row[worker]{From: []State{"again"}, On: On(AtOnce), To: ready})
		}, "(at once in choosing): leads to another choice, again"},
		{"it is the first state", func(c *Chart[worker]) { c.States[0], c.States[5] = c.States[5], c.States[0] },
			"choosing is a choice and the first state"},
		{"it is the final state", func(c *Chart[worker]) { c.Final = choosing },
			"choosing is a choice and the final state"},
		{"an Ignore names it", func(c *Chart[worker]) { c.Ignores[1].In = append(c.Ignores[1].In, choosing) },
			"watch.deleted in choosing is ignored: no event comes in a choice"},
		{"Kinds declares AtOnce", func(c *Chart[worker]) { c.Kinds = append(c.Kinds, AtOnce) },
			"Kinds declares AtOnce, which is no event"},
		{"nothing leads there", func(c *Chart[worker]) {
			for i := range c.Rows {
				if c.Rows[i].To == choosing {
					c.Rows[i].To = pausing
				}
			}
		}, "state choosing: no arrow leads to it"},
		{"a row without On", func(c *Chart[worker]) { c.Rows[0].On = Trigger{} },
			"row 1 (in ready): has no On: name the kinds"},
	} {
		t.Run(r.name, func(t *testing.T) {
			c := chooserTable()
			r.spoil(&c)
			if got := refusal(func() { MustCompile(c) }); !strings.Contains(got, r.says) {
				t.Errorf("got  %s\nwant %s", got, r.says)
			}
		})
	}
}

// The happy path may go through a choice, where the picture shows it.
func TestTheHappyPathMayNameAChoice(t *testing.T) {
	c := chooserTable()
	c.Happy = []State{ready, asking, choosing, pausing, over}
	want(t, "happy", Describe(MustCompile(c)).Happy, c.Happy)
}

// A description says which states are choices.
func TestAChoiceIsDescribed(t *testing.T) {
	d := Describe(chooserChart)
	want(t, "choices", []bool{d.Choice(choosing), d.Choice(asking)}, []bool{true, false})
	row := d.Rows[14]
	want(t, "a row of it", []string{row.Label(), row.Action()}, []string{"[unlucky]", "dawdle"})
	want(t, "its last row", d.Rows[16].Labels(), []string{"else"})
}
