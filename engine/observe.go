package engine

import "github.com/incumbent-go/incumbent/events"

// Observed is one step of one machine, as an Observer gets it. The event and the effects are
// the engine's own: they are valid until the Observer returns, and must not be changed.
type Observed struct {
	Machine    events.ID
	Event      *events.Event // as the machine got it: stamped
	Class      events.Class  // of the machine's state after the step
	Seq, Cause uint64        // as in the step's record
	Effects    []events.Effect
}

// Observer is called after each step of a machine, on the goroutine of the engine. It must
// not block. What was late, unknown or refused is no step.
type Observer func(Observed)

// Class returns the class of a machine's state, "" if there is no machine of that name.
func (e *Engine) Class(id events.ID) events.Class {
	if m := e.machines[id]; m != nil {
		return m.class()
	}
	return ""
}

// Observe sets the observer of all steps from now on.
func (e *Engine) Observe(o Observer) { e.observer = o }

// observe passes the step that a machine has just taken to the observer.
func (e *Engine) observe(cause uint64, m *Machine) {
	if e.observer != nil {
		e.observer(Observed{e.current.To, &e.current.Event, m.class(), e.seq, cause, e.box.effects})
	}
}
