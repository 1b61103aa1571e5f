package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// Bounds of one engine. They are far above what machines need, and far below what a queue
// without an end would reach in a test.
const (
	maxPending = 200  // replies and timers that one machine awaits
	maxTells   = 50   // events that machines tell each other in one step, for each machine
	maxEffects = 5000 // of one machine in one step: a member may lose 4096 shards at once
)

// invariants checks what is true after every step of every machine.
type invariants struct {
	terms    map[events.ID]held
	before   map[events.ID]bool // machines that were there first, and may have had a term
	leading  int                // how many of them have not ended
	attached int64              // how many connections there were
	session  int64
	until    int64 // the deadline; 0 if nothing is believed
	alone    int64
}

// held is what is known of a machine's terms.
type held struct {
	leads    bool
	token    int64
	attached int64 // the connection on which the last term began
}

// CheckInvariants has the engine panic if an invariant of terms or deadlines is broken, or
// a bound of its queues. Tests and the simulation call it, before the first step. Without it,
// a step costs one comparison more.
func (e *Engine) CheckInvariants() {
	e.invariants = &invariants{terms: map[events.ID]held{}, before: map[events.ID]bool{}}
	for _, id := range e.Machines() {
		e.invariants.before[id] = true
	}
}

// check panics if something is not true after a step.
func (v *invariants) check(e *Engine, m *Machine, q queued, t Transition) {
	must := func(broken string) {
		if broken != "" {
			panic(fmt.Sprintf("engine: machine %s (%s) in %s, event %s: broken invariant: %s", q.To, m.chartName(),
				t.To, q.Event.Kind, broken))
		}
	}
	if q.To == events.SessionMachine && q.Event.Kind == events.ConnectionAttached && t.Row != events.RowIgnored {
		v.attached++
	}
	for _, effect := range e.box.effects {
		switch effect := effect.(type) {
		case events.Deadline:
			must(v.deadline(effect))
		case events.Notify:
			must(v.term(q.To, effect))
		}
	}
	must(bounded(e, m))
	if m.final() {
		v.forget(q.To)
	}
}

// forget drops a machine that is closed, although its term may not have ended.
func (v *invariants) forget(id events.ID) {
	if v.terms[id].leads {
		v.leading--
	}
	delete(v.terms, id)
	delete(v.before, id)
}

// deadline checks that the deadline and AloneUntil move forward only, as long as a machine leads and none of them is
// withdrawn, as it is when the connection is lost.
func (v *invariants) deadline(d events.Deadline) (broken string) {
	if d.Session == v.session && d.Until != 0 && v.until != 0 && v.leading > 0 {
		switch {
		case d.Until < v.until:
			broken = fmt.Sprintf("the deadline moves back by %s during a term", time.Duration(v.until-d.Until))
		case d.Alone < v.alone:
			broken = fmt.Sprintf("AloneUntil moves back by %s during a term", time.Duration(v.alone-d.Alone))
		}
	}
	v.session, v.until, v.alone = d.Session, d.Until, d.Alone
	return broken
}

// term checks that a machine has one term at a time, and that its tokens do not fall on one
// connection. On the next one they may: the ensemble's data may have been restored.
func (v *invariants) term(id events.ID, n events.Notify) string {
	h := v.terms[id]
	switch {
	case n.What == events.Elected && h.leads:
		return "a term begins within a term"
	case n.What == events.Elected && h.attached == v.attached && n.Token < h.token:
		return fmt.Sprintf("the token falls from %d to %d on one connection", h.token, n.Token)
	case n.What == events.Elected:
		v.terms[id] = held{true, n.Token, v.attached}
		v.leading++
	case n.What == events.Stopped && v.before[id]: // of a term that began before the checks
	case n.What == events.Stopped && !h.leads:
		return "a term ends that has not begun"
	case n.What == events.Stopped:
		h.leads = false
		v.terms[id] = h
		v.leading--
	}
	if n.What == events.Elected || n.What == events.Stopped {
		delete(v.before, id)
	}
	return ""
}

// bounded checks the queues of an engine and of the machine that was stepped.
func bounded(e *Engine, m *Machine) string {
	awaits := m.pending.open
	switch {
	case len(awaits) > maxPending:
		return fmt.Sprintf("it awaits %d replies and timers, of at most %d", len(awaits), maxPending)
	case len(e.queue) > maxTells*(len(e.machines)+1):
		return fmt.Sprintf("machines tell each other %d events in one step, of at most %d", len(e.queue),
			maxTells*(len(e.machines)+1))
	case len(e.box.effects) > maxEffects+len(e.machines):
		return fmt.Sprintf("it asks for %d effects in one step, of at most %d", len(e.box.effects),
			maxEffects+len(e.machines))
	}
	for i, a := range awaits {
		same := func(b await) bool { return b.timer && b.what == a.what }
		if a.timer && slices.ContainsFunc(awaits[i+1:], same) {
			return fmt.Sprintf("two timers %q run", a.what)
		}
	}
	return ""
}
