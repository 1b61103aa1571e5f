package engine

import (
	"fmt"
	"reflect"
	"slices"
	"sort"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/plaindata"
)

// Checkpoint is the state of all machines of an engine between two steps. It does not
// change, so any goroutine may encode it or restore engines from it. A log that goes on
// after a checkpoint can be replayed without what was before it: see ReplayFrom.
//
// It has the seq of the last record, and of each machine, in order of creation: its id,
// recipe, state and model, and the requests and timers that it awaits. A session machine
// that is closed is in it, because its model still decides what is late. If a Loop took it,
// it has the running timers, too. What is on its way to the machines, in the Loop's inbox or
// in an executor, is not in it: it comes as an event.
type Checkpoint struct {
	seq      uint64
	machines []savedMachine
	timers   []timer // in any order
	err      error   // a model is not plain data
}

// savedMachine is a machine of a checkpoint.
type savedMachine struct {
	id      events.ID
	recipe  string
	chart   string // the digest
	state   State
	pending pending
	model   any // a pointer
	is      *modelType
}

// savedTimer is a timer that runs.
type savedTimer struct {
	machine events.ID
	number  uint64
	since   int64 // when it was set, by the loop's clock
	at      int64 // when it is due
}

// inOrder returns the timers in the order in which they fire.
func (c Checkpoint) inOrder() (all []savedTimer) {
	sorted := slices.Clone(c.timers)
	// which takes less of a program than a sort for the type
	sort.Slice(sorted, func(i, j int) bool { return earlier(sorted[i], sorted[j]) < 0 })
	for _, one := range sorted {
		all = append(all, savedTimer{one.machine, one.number, one.since, one.at})
	}
	return all
}

// modelType is the type of a recipe's models.
type modelType struct {
	shape  *plaindata.Shape
	digest string
	err    error // why it has no checkpoints
}

func modelTypeOf(t reflect.Type) *modelType {
	s, err := plaindata.ShapeOf(t)
	if err != nil {
		err = fmt.Errorf("engine: the model %s is not plain data, so it has no checkpoint: %w", t, err)
		return &modelType{err: err}
	}
	return &modelType{shape: s, digest: s.Digest()}
}

// copied returns a copy of a model. Both are pointers.
func (t *modelType) copied(model any) any { return t.shape.Copy(model) }

func (d pending) copied() pending { return pending{d.last, slices.Clone(d.open)} }

func (m *Machine) save(id events.ID) savedMachine {
	s := savedMachine{id: id, recipe: m.steppers.Name(), chart: m.steppers.digest, state: m.State(),
		pending: m.pending.copied(), is: m.steppers.modelType}
	if s.is.err == nil {
		s.model = s.is.copied(m.Model)
	}
	return s
}

// Checkpoint copies the state of all machines. It must not be called during a Step. The
// copy takes about as much memory as the models, and a few microseconds for each machine.
func (e *Engine) Checkpoint() Checkpoint {
	k := e.beginCopy()
	for !e.copySome(k, len(k.order)) {
	}
	return k.Checkpoint
}

func (c *Checkpoint) add(m savedMachine) {
	if c.err == nil {
		c.err = m.is.err
	}
	c.machines = append(c.machines, m)
}

// Seq returns the seq of the last record before the checkpoint.
func (c Checkpoint) Seq() uint64 { return c.seq }

// Machines returns how many machines the checkpoint has.
func (c Checkpoint) Machines() int { return len(c.machines) }

// Restore returns an engine that goes on from the checkpoint, with these recipes. If record
// is set, it keeps records, as in New. The error is a *ChartChangedError or a
// *ModelChangedError if a machine's recipe is another one here.
func (c Checkpoint) Restore(record bool, recipes ...Recipe) (*Engine, error) {
	if c.err != nil {
		return nil, c.err
	}
	e := New(record, recipes...)
	e.seq = c.seq
	for _, m := range c.machines {
		recipe, err := e.recipeOf(m.recipe, m.chart, m.is.digest)
		if err != nil {
			return nil, err
		}
		e.add(m.id, recipe.restored(m))
	}
	return e, nil
}

// recipeOf returns a recipe whose chart and models have these digests.
func (e *Engine) recipeOf(name, chart, model string) (*recipe, error) {
	r := e.recipes.find(name)
	switch {
	case r == nil:
		return nil, &ChartChangedError{name, chart, ""}
	case r.digest != chart:
		return nil, &ChartChangedError{name, chart, r.digest}
	case r.modelType.err != nil:
		return nil, r.modelType.err
	case r.modelType.digest != model:
		return nil, &ModelChangedError{name, model, r.modelType.digest}
	}
	return r, nil
}

// ModelChangedError says that the program that took a checkpoint kept other facts in a
// recipe's machines than this one.
type ModelChangedError struct {
	Recipe, Logged, Here string
}

func (e *ModelChangedError) Error() string {
	return fmt.Sprintf("the machines of %q have other fields now: the checkpoint has %s, this program has %s; replay "+
		"it with the version that wrote it", e.Recipe, e.Logged, e.Here)
}
