package engine

import (
	"fmt"
	"slices"

	"github.com/incumbent-go/incumbent/events"
)

// Addressed is an effect, and the machine that appended it.
type Addressed struct {
	From   events.ID
	Effect events.Effect
}

// Executor performs effects. Execute is called on the loop's goroutine, in order, and
// must not block; replies come back later as envelopes.
type Executor interface {
	Execute(events.ID, events.Effect)
}

// Stamper is the model of the session machine: it sets in every event what is known
// about the session at that moment.
type Stamper interface {
	// Stamp sets Attached, ValidUntil, AskAt and NoContainers, and Session if it is
	// not set.
	Stamp(*events.Event)
	// StampOpen sets ReadBack in the event that opens a machine.
	StampOpen(*events.Event)
	// Confirms reports whether this reply to any machine's request is a
	// confirmation that the session machine has to handle first.
	Confirms(events.Event) bool
	// Current returns the number of the session whose replies count, 0 for none.
	Current() int64
}

// WatchFilter is a model that knows which nodes it watches. A watch that fires on another
// node is recorded as late: watches that were left cannot be removed.
type WatchFilter interface {
	Watches(path string) bool
}

// Engine is a set of machines that share one session machine. It is pure, and for one
// goroutine. Only Step changes it.
type Engine struct {
	recipes  recipes
	machines map[events.ID]*Machine
	order    []events.ID // in order of creation: for All, without map order; "" is one that has closed
	searches []events.ID // those that search, in order of creation
	lists    awaitLists
	session  Stamper
	last     *Machine // the session machine, also when it is closed: session is its model

	invariants *invariants // nil: they are not checked
	bounded    bool        // machines may not tell each other events without an end
	observer   Observer    // nil: nobody observes
	copying    *copying    // nil: no checkpoint is being taken

	record  bool
	seq     uint64
	queue   []queued
	current queued // the event of this step
	box     Outbox // the effects of this step
	out     []Addressed
	records []events.Record
	kept    events.Effects // the last piece of memory for the effects of records
}

type queued struct {
	events.Envelope
	cause    uint64
	internal bool
}

// New returns an engine with these recipes. It learns others by Loop.Learn and Outbox.Open. If record is set, Step also
// keeps a Record of each machine's step for Records.
func New(record bool, recipes ...Recipe) *Engine {
	e := &Engine{machines: map[events.ID]*Machine{}, record: record}
	e.recipes.all, e.recipes.used = slices.Clone(recipes), map[string]*recipe{}
	return e
}

// Step delivers one envelope, and all events that machines tell each other because of
// it. It returns the effects in order. The slice is valid until the next Step.
func (e *Engine) Step(env events.Envelope) []Addressed {
	e.out, e.records = e.out[:0], e.records[:0]
	e.queue = append(e.queue[:0], queued{Envelope: env})
	for i := 0; i < len(e.queue); i++ {
		e.route(e.queue[i])
		if e.bounded && len(e.queue) > maxTells*(len(e.machines)+1) {
			panic(fmt.Sprintf("engine: machines tell each other more than %d events in one step", len(e.queue)))
		}
	}
	return e.out
}

// Records returns the records of the last Step, which are valid until the next.
func (e *Engine) Records() []events.Record { return e.records }

// Seq returns the seq of the last record.
func (e *Engine) Seq() uint64 { return e.seq }

// State returns a machine's state, "" if there is no machine of that name.
func (e *Engine) State(id events.ID) State {
	if m := e.machines[id]; m != nil {
		return m.State()
	}
	return ""
}

// Awaited is one reply or timer that a machine awaits.
type Awaited struct {
	Request uint64
	Kind    events.Kind
	Name    string // a timer's
}

// Awaits returns what a machine awaits, in the order of its requests.
func (e *Engine) Awaits(id events.ID) []Awaited {
	m := e.machines[id]
	if m == nil {
		return nil
	}
	var all []Awaited
	for _, a := range m.pending.open {
		all = append(all, Awaited{a.number, a.kind(), a.name()})
	}
	return all
}

// timer returns the cause of a timer that a machine awaits, 0 if it awaits none of that number.
func (e *Engine) timer(id events.ID, number uint64) (cause uint64) {
	if m := e.machines[id]; m != nil {
		cause = m.timer(number)
	}
	return cause
}

// Machines returns the machines that are not closed, in order of creation.
func (e *Engine) Machines() []events.ID {
	return slices.DeleteFunc(slices.Clone(e.order), func(id events.ID) bool { return id == "" })
}

func (e *Engine) route(q queued) {
	to := e.searches
	switch q.To {
	case events.All:
		to = e.Machines()
	case events.Searches: // which none ends with
	default:
		e.deliver(q)
		e.tellCreated(q)
		return
	}
	for _, id := range to {
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
		e.refuse(q, events.NotSent, fmt.Sprintf("a %s knows no %s", m.chartName(), q.Event.Kind))
		return
	}
	wanted := !watch(q.Event.Kind) || m.concerned(q.Event.Path)
	if answers(q.Event.Kind) || q.Event.Kind == events.ReplyCreate {
		var a await
		a, wanted = m.awaited(q.Event.Request)
		wanted = wanted && a.kind() == q.Event.Kind
		q.cause = a.cause
		if q.Event.Kind == events.TimerFired {
			q.Event.Name = a.name()
		}
	}
	if !wanted || e.outdated(q.Event) {
		e.late(m, q)
		return
	}
	if e.confirm(q) {
		// The events that the session machine told may have changed what is wanted.
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

// late records an event that no longer matters. If it is the reply to a pending
// request, that is no longer pending. A reply of another kind than the request's
// changes nothing.
func (e *Engine) late(m *Machine, q queued) {
	if a, open := m.awaited(q.Event.Request); open && a.kind() == q.Event.Kind {
		e.keep(q.To, m)
		m.settle(q.Event.Request)
	}
	e.note(q, Transition{Row: events.RowLate, From: m.State(), To: m.State()}, nil)
}

func watch(k events.Kind) bool {
	return k == events.WatchDeleted || k == events.WatchChanged || k == events.WatchCreated || k == events.WatchChildren
}

// outdated reports whether an event belongs to another session than the current one, or
// is a reply without a session: it changes nothing then (promise 9).
func (e *Engine) outdated(ev events.Event) bool {
	reply := ev.Kind != events.TimerFired && (answers(ev.Kind) || ev.Kind == events.ReplyCreate)
	return e.session != nil && (ev.Session != 0 || reply) && ev.Session != e.session.Current()
}

// confirm delivers a committed write to the session machine before the machine that
// sent the request gets the reply, so that the reply has the new deadline. The events
// that the session machine tells because of it (belief that had ended before) are
// delivered first as well. It reports whether the session machine got an event.
func (e *Engine) confirm(q queued) bool {
	session := e.machines[events.SessionMachine]
	if session == nil || e.session == nil || q.To == events.SessionMachine || !e.session.Confirms(q.Event) {
		return false
	}
	mark := len(e.queue)
	ev := events.Event{Kind: events.ConnectionConfirmed, At: q.Event.At, Session: q.Event.Session,
		SentAt: q.Event.SentAt, Contact: q.Event.Contact, Zxid: q.Event.Zxid}
	e.step(session, queued{events.Envelope{To: events.SessionMachine, Event: ev}, q.cause, true})
	first := slices.Clone(e.queue[mark:])
	e.queue = e.queue[:mark]
	for _, t := range first {
		e.route(t)
	}
	return true
}

// step delivers one event to one machine. The event and the outbox are fields of the
// engine, so that a step does not allocate them.
func (e *Engine) step(m *Machine, q queued) {
	e.keep(q.To, m)
	e.current, e.box = q, Outbox{effects: e.box.effects[:0], seq: e.seq + 1, lists: &e.lists, recipes: &e.recipes}
	event := &e.current.Event
	if e.session != nil {
		e.session.Stamp(event)
		e.box.session = e.session.Current()
	}
	t := m.deliver(event, &e.box)
	for _, effect := range e.box.effects {
		if tell, ok := effect.(events.Tell); ok {
			tell.Event.At = event.At
			e.queue = append(e.queue, queued{events.Envelope(tell), e.box.seq, true})
			continue
		}
		e.out = append(e.out, Addressed{q.To, effect})
	}
	if t.To != t.From {
		e.out = append(e.out, Addressed{q.To, m.entered()})
	}
	e.note(e.current, t, e.box.effects)
	e.observe(q.cause, m)
	if e.invariants != nil {
		e.invariants.check(e, m, e.current, t)
	}
	if m.final() {
		e.forget(q.To)
	}
}

func (e *Engine) open(q queued) {
	t := Transition{Row: string(events.CommandOpen)}
	recipe := e.recipes.find(q.Event.Recipe)
	switch {
	case recipe == nil:
		e.refuse(q, events.NotOpened, fmt.Sprintf("no recipe %q in this engine", q.Event.Recipe))
		return
	case e.machines[q.To] != nil:
		e.refuse(q, events.NotSent, fmt.Sprintf("machine %s exists already", q.To))
		return
	}
	q.Event.Name, q.Event.ReadBack = string(q.To), false
	if e.session != nil {
		e.session.StampOpen(&q.Event)
	}
	m, err := recipe.machine(q.Event)
	if err != nil {
		e.refuse(q, events.NotOpened, err.Error())
		return
	}
	e.add(q.To, m)
	t.To = m.State()
	e.note(q, t, nil)
	if e.record {
		e.records[len(e.records)-1].Chart = recipe.digest
	}
}

func (e *Engine) add(id events.ID, m *Machine) {
	if !m.final() {
		e.machines[id] = m
		m.at = int32(len(e.order))
		e.order = append(e.order, id)
		e.noteSearch(id, m)
	}
	if s, ok := m.stamper(); ok && id == events.SessionMachine {
		e.session, e.last = s, m
	}
}

// refuse answers a command that no machine can execute.
func (e *Engine) refuse(q queued, code events.Code, why string) {
	answer := events.Answer{Command: q.Event.Request, Code: code, Text: why}
	e.out = append(e.out, Addressed{q.To, answer})
	e.note(q, Transition{Row: events.RowRefused}, []events.Effect{answer})
}

// unknown records an event for a machine that is closed or never was. A command is
// answered with CLOSED.
func (e *Engine) unknown(q queued) {
	if !commands(q.Event.Kind) {
		e.note(q, Transition{Row: events.RowUnknown}, nil)
		return
	}
	answer := events.Answer{Command: q.Event.Request, Code: events.Closed}
	e.out = append(e.out, Addressed{q.To, answer})
	e.note(q, Transition{Row: events.RowUnknown}, []events.Effect{answer})
}

// commands reports whether events of a kind are commands whose caller waits for an
// answer.
func commands(k events.Kind) bool {
	switch k {
	case events.CommandStart, events.CommandAwait, events.CommandResign, events.CommandRequeue, events.CommandClose,
		events.CommandSet, events.CommandRemove, events.CommandPut, events.CommandEnter, events.CommandLeave,
		events.CommandTrigger:
		return true
	}
	return false
}

// forget removes a machine that has closed. It leaves a gap in the order, in a time that does not
// depend on the number of machines. When half of the order is gaps, they are closed.
func (e *Engine) forget(id events.ID) {
	m := e.machines[id]
	if m == nil {
		return
	}
	delete(e.machines, id)
	e.order[m.at] = ""
	e.searches = slices.DeleteFunc(e.searches, func(other events.ID) bool { return other == id })
	if len(e.order) < 2*len(e.machines)+minGaps {
		return
	}
	e.order = e.Machines()
	for i, id := range e.order {
		e.machines[id].at = int32(i)
	}
}

// minGaps is how many gaps there are at least before they are closed.
const minGaps = 16

func (e *Engine) note(q queued, t Transition, effects []events.Effect) {
	e.seq++
	if !e.record {
		return
	}
	e.records = append(e.records, events.Record{})
	r := &e.records[len(e.records)-1] // filled in its place, because it is long
	r.Seq, r.Machine, r.Cause, r.Internal = e.seq, q.To, q.cause, q.internal
	r.Event = q.Event
	r.From, r.Row, r.To, r.Tried = string(t.From), t.Row, string(t.To), t.Tried
	if len(effects) > 0 {
		r.Effects = e.copied(effects)
		r.Deadline, r.Reason = r.Effects.Facts()
	}
}

// copied returns a copy of effects. Several copies share one piece of memory, so that few are allocated.
func (e *Engine) copied(effects []events.Effect) events.Effects {
	const piece = 256
	if cap(e.kept)-len(e.kept) < len(effects) {
		e.kept = make(events.Effects, 0, max(piece, len(effects)))
	}
	from := len(e.kept)
	e.kept = append(e.kept, effects...)
	return e.kept[from:len(e.kept):len(e.kept)]
}
