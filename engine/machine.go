package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/looplab/fsm"

	"github.com/incumbent-go/incumbent/events"
)

// Transition is the change of one machine by one event.
type Transition struct {
	From, To State
	// the arrow that was taken, "kind [guard]", then " > [guard]" or " > else" of a choice; or events.RowIgnored
	Row   string
	Tried []string // guards that did not hold; it must not be changed
}

// stepper has a looplab object of a chart. Machines use it one after the other: SetState,
// then Event. That is not atomic, and need not be, because one step uses it at a time.
type stepper struct {
	*compiled
	fsm *fsm.FSM

	// Set for the duration of one Step, for looplab's callback.
	model any
	event *events.Event
	out   *Outbox
	acts  []act

	moved []bool             // by arrow: looplab has made its change of state, which led where the chart says
	rows  map[[2]int]through // of an arrow, and that of a choice behind it, by their numbers
}

// through is what a Transition says of an arrow and that of a choice behind it.
type through struct {
	row   string
	tried []string
}

func newStepper(c *compiled) *stepper {
	r := &stepper{compiled: c, rows: map[[2]int]through{}, moved: make([]bool, len(c.edges))}
	r.fsm = fsm.NewFSM(string(c.chart.states[0].Name), c.edges, fsm.Callbacks{
		// The one hook of looplab that always runs, also for self transitions, and
		// that runs while its event mutex is not held.
		"after_event": func(context.Context, *fsm.Event) { r.act() },
	})
	return r
}

// edgeList has every arrow of a chart by its number, for looplab, which only reads it.
type edgeList []fsm.EventDesc

func edges(c *compiled) (all edgeList) {
	for _, s := range c.chart.states {
		for _, kind := range append(slices.Clone(c.chart.kinds), AtOnce) {
			for i, a := range c.arrows[key{s.Name, kind}] {
				c.arrows[key{s.Name, kind}][i].number = len(all)
				all = append(all, fsm.EventDesc{Name: a.name, Src: []string{string(s.Name)}, Dst: string(a.to)})
			}
		}
	}
	return all
}

// step changes one machine by one event: nothing else changes a model.
func (r *stepper) step(model any, state State, ev *events.Event, out *Outbox) Transition {
	t := Transition{From: state, To: state, Row: events.RowIgnored}
	for _, a := range r.arrows[key{state, ev.Kind}] {
		if a.when != nil && !a.when(model, ev) {
			continue
		}
		t.Row, t.To, t.Tried = a.name, a.to, a.tried
		r.fire(model, a, state, ev, out)
		if r.choice(a.to) {
			r.choose(model, a, ev, out, &t)
		}
		return t
	}
	return t
}

// choose goes on from the choice to which an arrow leads, in the same step.
func (r *stepper) choose(model any, to arrow, ev *events.Event, out *Outbox, t *Transition) {
	for _, a := range r.arrows[key{to.to, AtOnce}] {
		if a.when != nil && !a.when(model, ev) {
			continue
		}
		r.fire(model, a, to.to, ev, out)
		both := r.both(to, a)
		t.Row, t.Tried, t.To = both.row, both.tried, a.to
		return
	}
}

// both returns what a Transition says of an arrow to a choice and of the arrow behind it.
func (r *stepper) both(to, behind arrow) through {
	numbers := [2]int{to.number, behind.number}
	both, known := r.rows[numbers]
	if !known {
		both = through{to.name + " > " + behind.name, slices.Concat(to.tried, behind.tried)}
		r.rows[numbers] = both
	}
	return both
}

// act performs the actions of the arrow that is taken.
func (r *stepper) act() {
	for _, a := range r.acts {
		a.do(r.model, r.event, r.out)
	}
}

// fire has looplab take the arrow. The first change of state by each arrow is an Event of
// looplab's, which shows that it leads where the chart says. Background is the only context
// with which a looplab machine cannot get stuck in the middle (v1.0.3). An Event allocates
// five objects, so from then on, and if the state stays, looplab is asked whether it has the
// arrow, and its state is set.
func (r *stepper) fire(model any, a arrow, state State, ev *events.Event, out *Outbox) {
	r.model, r.event, r.out, r.acts = model, ev, out, a.acts
	r.fsm.SetState(string(state))
	if err := r.take(a, state); err != nil {
		panic(fmt.Sprintf("engine: chart %s refused its own row %q in state %s: %v", r.chart.name, a.name, state, err))
	}
	if got := r.fsm.Current(); got != string(a.to) {
		panic(fmt.Sprintf("engine: chart %s: row %q from %s led to %s instead of %s",
			r.chart.name, a.name, state, got, a.to))
	}
	r.model, r.event, r.out, r.acts = nil, nil, nil, nil
}

func (r *stepper) take(a arrow, state State) error {
	if a.to != state && !r.moved[a.number] {
		err := r.fsm.Event(context.Background(), a.name)
		r.moved[a.number] = err == nil && r.fsm.Current() == string(a.to)
		return err
	}
	if r.fsm.Cannot(a.name) {
		return fsm.InvalidEventError{Event: a.name, State: string(state)}
	}
	r.act()
	r.fsm.SetState(string(a.to))
	return nil
}

// Machine is one model with its chart and its state.
type Machine struct {
	Model    any // a pointer
	steppers *steppers
	pending  pending
	at       int32  // the place in the engine's order
	state    uint16 // its place in the chart
}

// State returns the state of the machine.
func (m *Machine) State() State { return m.steppers.chart.states[m.state].Name }

func (m *Machine) enter(state State) { m.state = m.steppers.places[state] }

func (m *Machine) chartName() string { return m.steppers.chart.name }
func (m *Machine) final() bool       { return m.State() == m.steppers.chart.final }

// entered returns the effect that says which state the machine has entered.
func (m *Machine) entered() events.Effect { return m.steppers.news[m.state] }

// class returns the class of the machine's state.
func (m *Machine) class() events.Class { return m.entered().(events.Entered).Class }

func (m *Machine) hears(k events.Kind) bool {
	return slices.Contains(m.steppers.chart.kinds, k)
}
func (m *Machine) awaited(number uint64) (await, bool) {
	return m.pending.find(number)
}

// timer returns the cause of a timer that is awaited, 0 if none of that number is.
func (m *Machine) timer(number uint64) uint64 {
	if a, open := m.awaited(number); open && a.timer {
		return a.cause
	}
	return 0
}

func (m *Machine) settle(number uint64) { m.pending.done(number) }
func (m *Machine) stamper() (Stamper, bool) {
	s, ok := m.Model.(Stamper)
	return s, ok
}

func (m *Machine) concerned(path string) bool {
	w, ok := m.Model.(WatchFilter)
	return !ok || w.Watches(path)
}

func (m *Machine) searches() bool {
	_, ok := m.Model.(Searcher)
	return ok
}

// deliver steps the machine and updates what is pending: it drops the entry that the
// event answers, and after the step the entries that the new state has no row for.
func (m *Machine) deliver(ev *events.Event, out *Outbox) Transition {
	out.pending = &m.pending
	if answers(ev.Kind) || ev.Kind == events.ReplyCreate {
		m.pending.done(ev.Request)
	}
	before := m.pending.mark()
	t := m.steppers.step(m.Model, m.State(), ev, out)
	m.enter(t.To)
	if t.To != t.From {
		m.pending.drop(before, out, func(k events.Kind) bool { return m.steppers.awaits(t.To, k) })
	}
	m.mustHaveRows(before, t)
	m.pending.fit(out.lists)
	if out.how != 0 {
		panic(fmt.Sprintf("engine: chart %s: row %q asks for nothing with the modifier %s",
			m.steppers.chart.name, t.Row, out.how))
	}
	return t
}

// mustHaveRows panics if the row that was taken sent a request for whose reply the new
// state has no row. Golden traces find such rows.
func (m *Machine) mustHaveRows(before uint64, t Transition) {
	for _, a := range m.pending.open {
		if a.number > before && !m.steppers.awaits(t.To, a.kind()) {
			panic(fmt.Sprintf("engine: chart %s: row %q into %s asks for %s, but that state has no row for it",
				m.steppers.chart.name, t.Row, t.To, strings.TrimPrefix(string(a.kind()), "reply.")))
		}
	}
}
