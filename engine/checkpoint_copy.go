package engine

import "github.com/incumbent-go/incumbent/events"

// copying is a checkpoint that is being taken between steps, some machines at a time. It is
// the state at its beginning: a machine is copied before it is stepped.
type copying struct {
	Checkpoint
	order   []events.ID
	stepped map[events.ID]savedMachine // as they were before the first step since the beginning
}

// beginCopy begins a checkpoint of the present state.
func (e *Engine) beginCopy() *copying {
	k := &copying{order: e.Machines(), stepped: map[events.ID]savedMachine{}}
	k.seq, k.machines = e.seq, make([]savedMachine, 0, len(k.order)+1)
	if e.last != nil && e.last.final() { // its model still decides what is late
		k.order = append(k.order, events.SessionMachine)
		k.stepped[events.SessionMachine] = e.last.save(events.SessionMachine)
	}
	return k
}

// copySome copies up to so many machines more, and reports whether all are copied.
func (e *Engine) copySome(k *copying, most int) (done bool) {
	for ; most > 0 && len(k.machines) < len(k.order); most-- {
		id := k.order[len(k.machines)]
		saved, stepped := k.stepped[id]
		if !stepped {
			saved = e.machines[id].save(id)
		}
		k.add(saved)
	}
	return len(k.machines) == len(k.order)
}

// keep copies a machine that is about to change, if a checkpoint is being taken.
func (e *Engine) keep(id events.ID, m *Machine) {
	if e.copying == nil {
		return
	}
	if _, kept := e.copying.stepped[id]; !kept {
		e.copying.stepped[id] = m.save(id)
	}
}
