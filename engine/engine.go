package engine

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Addressed is an effect and the machine that wants it.
type Addressed struct {
	From   events.ID
	Effect events.Effect
}

// Executor performs effects. Execute is called on the loop's goroutine, in
// order, and must not block; answers come back later as envelopes.
type Executor interface {
	Execute(events.ID, events.Effect)
}

// Stamper is the model of the session machine: it tells every event what is
// known about the session when it arrives.
type Stamper interface {
	// Stamp sets Attached, ValidUntil, AskAt and NoContainers, and Session where it is
	// not set.
	Stamp(*events.Event)
	// Confirms reports whether this reply to any machine's request is a
	// confirmation that the session machine wants to hear of first.
	Confirms(events.Event) bool
	// Current is the number of the session whose answers count, 0 for none.
	Current() int64
}

// Watcher is a model that knows which nodes it still cares about. A watch that
// fires on any other is recorded as late: there is no way to take a watch back.
type Watcher interface {
	Watches(path string) bool
}

// Recipe makes machines of one chart. Chart packages hand recipes to New.
type Recipe interface {
	Name() string
	Digest() string
	Describe() Description
	bind() func(open events.Event) (instance, error)
	rewire(digest string, change func(*Wiring)) Recipe
}

type recipe[M any] struct {
	*Compiled[M]
	make func(open events.Event) (*M, error)
}

// NewRecipe joins a chart with the function that makes its model from the
// command.open event. The function must be pure.
func NewRecipe[M any](c *Compiled[M], make func(open events.Event) (*M, error)) Recipe {
	return recipe[M]{c, make}
}

func (r recipe[M]) Describe() Description { return Describe(r.Compiled) }

func (r recipe[M]) bind() func(events.Event) (instance, error) {
	rig := newStepper(r.Compiled)
	return func(open events.Event) (instance, error) {
		model, err := r.make(open)
		if err != nil {
			return nil, err
		}
		return &Machine[M]{Model: model, stepper: rig, state: r.chart.States[0].Name}, nil
	}
}

// Engine is a set of machines around one session machine. It is pure and for
// one goroutine: Step is its only mutation.
type Engine struct {
	makers   map[string]func(events.Event) (instance, error)
	machines map[events.ID]instance
	order    []events.ID // in order of creation: what All means, without map order
	session  Stamper

	record  bool
	seq     uint64
	queue   []queued
	current queued // what the machine of this step deals with
	box     Outbox // what it asks for
	out     []Addressed
	records []events.Record
}

type queued struct {
	events.Envelope
	cause uint64
	told  bool
}

// New makes an engine that knows these recipes. With record, Step also keeps a
// Record of each machine's step for Records.
func New(record bool, recipes ...Recipe) *Engine {
	e := &Engine{makers: map[string]func(events.Event) (instance, error){}, machines: map[events.ID]instance{}, record: record}
	for _, r := range recipes {
		e.makers[r.Name()] = r.bind()
	}
	return e
}

// Step feeds one envelope, and all that its machines tell each other because of
// it, and returns the effects in order. The slice is valid until the next Step.
func (e *Engine) Step(env events.Envelope) []Addressed {
	e.out, e.records = e.out[:0], e.records[:0]
	e.queue = append(e.queue[:0], queued{Envelope: env})
	for i := 0; i < len(e.queue); i++ {
		e.route(e.queue[i])
	}
	return e.out
}

// Records are those of the last Step, valid until the next.
func (e *Engine) Records() []events.Record { return e.records }

// State is where a machine is; "" when there is none of that name.
func (e *Engine) State(id events.ID) State {
	if m := e.machines[id]; m != nil {
		return m.current()
	}
	return ""
}

// Awaited is one answer or timer that a machine waits for.
type Awaited struct {
	Request uint64
	Kind    events.Kind
	Name    string // a timer's
}

// Awaits lists what a machine waits for, in the order in which it asked.
func (e *Engine) Awaits(id events.ID) []Awaited {
	m := e.machines[id]
	if m == nil {
		return nil
	}
	var all []Awaited
	for _, a := range m.awaits() {
		all = append(all, Awaited{a.number, a.kind, a.name})
	}
	return all
}

// Machines lists the machines that are not over, in order of creation.
func (e *Engine) Machines() []events.ID { return append([]events.ID(nil), e.order...) }

func (e *Engine) route(q queued) {
	if q.To != events.All {
		e.deliver(q)
		return
	}
	for _, id := range append([]events.ID(nil), e.order...) {
		if id != events.SessionMachine {
			q.To = id
			e.deliver(q)
		}
	}
}

func (e *Engine) deliver(q queued) {
	q.Event.Attached, q.Event.ValidUntil, q.Event.AskAt, q.Event.NoContainers = false, 0, 0, false
	if q.Event.Kind == events.CommandOpen {
		e.open(q)
		return
	}
	m := e.machines[q.To]
	if m == nil {
		e.unknown(q)
		return
	}
	if commands(q.Event.Kind) && !m.hears(q.Event.Kind) {
		e.refuse(q, fmt.Sprintf("a %s knows no %s", m.chartName(), q.Event.Kind))
		return
	}
	wanted := !watch(q.Event.Kind) || m.concerned(q.Event.Path)
	if answers(q.Event.Kind) || q.Event.Kind == events.ReplyCreate {
		var a await
		a, wanted = m.awaited(q.Event.Request)
		wanted = wanted && a.kind == q.Event.Kind
		q.cause = a.cause
		if q.Event.Kind == events.TimerFired {
			q.Event.Name = a.name
		}
	}
	if !wanted || e.outdated(q.Event) {
		e.late(m, q)
		return
	}
	if e.confirm(q) {
		// What the session machine told may have changed what is wanted.
		if e.machines[q.To] == nil {
			e.unknown(q)
			return
		}
		if _, wanted = m.awaited(q.Event.Request); !wanted {
			e.late(m, q)
			return
		}
	}
	e.step(m, q)
}

// late writes down what means nothing any more. An answer is off the desk then;
// one of another kind than was asked for is nobody's, and settles nothing.
func (e *Engine) late(m instance, q queued) {
	if a, open := m.awaited(q.Event.Request); open && a.kind == q.Event.Kind {
		m.settle(q.Event.Request)
	}
	e.note(q, Transition{Row: events.RowLate, From: m.current(), To: m.current()}, nil)
}

func watch(k events.Kind) bool {
	return k == events.WatchDeleted || k == events.WatchChanged || k == events.WatchCreated || k == events.WatchChildren
}

// outdated is promise 9: what belongs to an older session changes nothing, nor
// does an answer that does not say to which it belongs.
func (e *Engine) outdated(ev events.Event) bool {
	reply := ev.Kind != events.TimerFired && (answers(ev.Kind) || ev.Kind == events.ReplyCreate)
	return e.session != nil && (ev.Session != 0 || reply) && ev.Session != e.session.Current()
}

// confirm lets the session machine hear of a committed write before the machine
// that asked for it does, so that the reply is seen under the new deadline. What
// the session machine tells because of it (belief that had ended before) goes
// out first as well.
func (e *Engine) confirm(q queued) bool {
	session := e.machines[events.SessionMachine]
	if session == nil || e.session == nil || q.To == events.SessionMachine || !e.session.Confirms(q.Event) {
		return false
	}
	mark := len(e.queue)
	ev := events.Event{Kind: events.ConnectionConfirmed, At: q.Event.At, Session: q.Event.Session, SentAt: q.Event.SentAt, Contact: q.Event.Contact, Zxid: q.Event.Zxid}
	e.step(session, queued{events.Envelope{To: events.SessionMachine, Event: ev}, q.cause, true})
	told := slices.Clone(e.queue[mark:])
	e.queue = e.queue[:mark]
	for _, t := range told {
		e.route(t)
	}
	return true
}

// step has one machine deal with one event. The event and the outbox are the
// engine's own, so that a step makes no garbage of them.
func (e *Engine) step(m instance, q queued) {
	e.current, e.box = q, Outbox{effects: e.box.effects[:0], seq: e.seq + 1}
	event := &e.current.Event
	if e.session != nil {
		e.session.Stamp(event)
		e.box.session = e.session.Current()
	}
	t := m.deliver(*event, &e.box)
	for _, effect := range e.box.effects {
		if tell, ok := effect.(events.Tell); ok {
			tell.Event.At = event.At
			e.queue = append(e.queue, queued{events.Envelope(tell), e.box.seq, true})
			continue
		}
		e.out = append(e.out, Addressed{q.To, effect})
	}
	if t.To != t.From {
		e.out = append(e.out, Addressed{q.To, events.Entered{State: string(t.To)}})
	}
	e.note(e.current, t, e.box.effects)
	if m.final() {
		e.forget(q.To)
	}
}

func (e *Engine) open(q queued) {
	t := Transition{Row: string(events.CommandOpen)}
	maker, ok := e.makers[q.Event.Recipe]
	switch {
	case !ok:
		e.refuse(q, fmt.Sprintf("no recipe %q in this engine", q.Event.Recipe))
		return
	case e.machines[q.To] != nil:
		e.refuse(q, fmt.Sprintf("machine %s exists already", q.To))
		return
	}
	q.Event.Name = string(q.To)
	m, err := maker(q.Event)
	if err != nil {
		e.refuse(q, err.Error())
		return
	}
	e.machines[q.To] = m
	e.order = append(e.order, q.To)
	if s, ok := m.stamper(); ok && q.To == events.SessionMachine {
		e.session = s
	}
	t.To = m.current()
	e.note(q, t, nil)
}

// refuse answers a command that no machine can take.
func (e *Engine) refuse(q queued, why string) {
	answer := events.Answer{Command: q.Event.Request, Code: events.NotSent, Text: why}
	e.out = append(e.out, Addressed{q.To, answer})
	e.note(q, Transition{Row: events.RowRefused}, []events.Effect{answer})
}

// unknown is an event for a machine that is over: a command is told so, all
// else is only written down.
func (e *Engine) unknown(q queued) {
	if !commands(q.Event.Kind) {
		e.note(q, Transition{Row: events.RowUnknown}, nil)
		return
	}
	answer := events.Answer{Command: q.Event.Request, Code: events.Closed}
	e.out = append(e.out, Addressed{q.To, answer})
	e.note(q, Transition{Row: events.RowUnknown}, []events.Effect{answer})
}

// commands are the kinds that whoever asks waits for an answer to.
func commands(k events.Kind) bool {
	switch k {
	case events.CommandStart, events.CommandAwait, events.CommandResign, events.CommandRequeue, events.CommandClose,
		events.CommandSet, events.CommandRemove, events.CommandPut, events.CommandEnter, events.CommandLeave:
		return true
	}
	return false
}

func (e *Engine) forget(id events.ID) {
	delete(e.machines, id)
	for i, other := range e.order {
		if other == id {
			e.order = append(e.order[:i], e.order[i+1:]...)
			return
		}
	}
}

func (e *Engine) note(q queued, t Transition, effects []events.Effect) {
	e.seq++
	if !e.record {
		return
	}
	r := events.Record{Seq: e.seq, Machine: q.To, Cause: q.cause, Internal: q.told, Event: q.Event,
		Tried: slices.Clone(t.Tried), From: string(t.From), Row: t.Row, To: string(t.To)}
	if len(effects) > 0 {
		r.Effects = make([]string, len(effects))
		for i, effect := range effects {
			r.Effects[i] = effect.String()
		}
	}
	e.records = append(e.records, r)
}
