package engine

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/plaindata"
)

// checkpointVersion is the version of a checkpoint's written form.
const checkpointVersion = 1

// checkpointHead is the first value of a checkpoint's written form. Its fields' names, and
// those of its parts, are the keys.
type checkpointHead struct {
	version  int
	seq      uint64
	recipes  []usedRecipe
	timers   []savedTimer
	machines int // how many follow
}

// usedRecipe is a recipe of a checkpoint's machines.
type usedRecipe struct{ name, chart, model string }

// machineHead is a machine without its model.
type machineHead struct {
	id      events.ID
	recipe  string
	state   State
	pending pending
}

var (
	checkpointHeadShape = plaindata.MustShape[checkpointHead]()
	machineHeadShape    = plaindata.MustShape[machineHead]()
)

// MarshalJSON returns the checkpoint's one written form, one line of JSON: the same
// checkpoint always gives the same bytes. Only ReadCheckpoint reads it; programs that are
// not of the same version should not.
func (c Checkpoint) MarshalJSON() ([]byte, error) {
	parts, err := c.Parts(math.MaxInt)
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// Parts returns the written form in several texts for ReadCheckpoint, each a line of JSON.
// A text ends with the machine that makes it as long as this many bytes, or longer; each
// has one machine at least.
func (c Checkpoint) Parts(length int) (parts [][]byte, err error) {
	return c.parts(plaindata.Writer{}, length)
}

func (c Checkpoint) parts(w plaindata.Writer, length int) (parts [][]byte, err error) {
	if c.err != nil {
		return nil, c.err
	}
	head := checkpointHead{checkpointVersion, c.seq, c.recipes(), c.inOrder(), len(c.machines)}
	w.Out = []byte(`{"engine":`)
	w.Value(checkpointHeadShape, reflect.ValueOf(head))
	w.Out = append(w.Out, `,"machines":[`...)
	first := map[string]any{} // the first model of each recipe is the example for the others
	for i, m := range c.machines {
		writeMachine(&w, m, first[m.recipe])
		if first[m.recipe] == nil {
			first[m.recipe] = m.model
		}
		switch {
		case i == len(c.machines)-1:
		case len(w.Out) < length:
			w.Out = append(w.Out, ',')
		default:
			parts = append(parts, events.EscapeForTerminal(append(w.Out, "]}"...)))
			w.Out = []byte(`{"machines":[`)
		}
	}
	return append(parts, events.EscapeForTerminal(append(w.Out, "]}"...))), nil
}

// writeMachine appends a machine. Example is a model of the same recipe, or nil.
func writeMachine(w *plaindata.Writer, m savedMachine, example any) {
	w.Out = append(w.Out, `{"machine":`...)
	w.Value(machineHeadShape, reflect.ValueOf(machineHead{m.id, m.recipe, m.state, m.pending}))
	w.Out = append(w.Out, `,"model":`...)
	w.Model(m.is.shape, m.model, example)
	w.Out = append(w.Out, '}')
}

// recipes returns the recipes of the machines, sorted by name.
func (c Checkpoint) recipes() (all []usedRecipe) {
	for _, m := range c.machines {
		one := usedRecipe{m.recipe, m.chart, m.is.digest}
		if i, known := slices.BinarySearchFunc(all, one, byName); !known {
			all = slices.Insert(all, i, one)
		}
	}
	return all
}

func byName(a, b usedRecipe) int { return strings.Compare(a.name, b.name) }

// BadCheckpointError says why a text is no checkpoint.
type BadCheckpointError struct{ Why string }

func (e *BadCheckpointError) Error() string { return "not a checkpoint: " + e.Why }

// ReadCheckpoint reads what Parts or MarshalJSON returned, for machines of these recipes. The error
// is a *BadCheckpointError, or a *ChartChangedError or *ModelChangedError if another version
// of the program wrote it. It does not panic and needs memory in proportion to the text,
// whatever that is.
func ReadCheckpoint(parts [][]byte, recipes ...Recipe) (Checkpoint, error) {
	k := checkpointReader{engine: New(false, recipes...)}
	err := k.read(parts)
	var chart *ChartChangedError
	var model *ModelChangedError
	switch {
	case err == nil:
		return k.Checkpoint, nil
	case errors.As(err, &chart) || errors.As(err, &model):
		return Checkpoint{}, err
	}
	return Checkpoint{}, &BadCheckpointError{err.Error()}
}

// checkpointReader reads a checkpoint.
type checkpointReader struct {
	Checkpoint
	*plaindata.Reader
	engine *Engine // without machines: it knows the recipes
	used   map[string]*recipe
	first  map[string]any // the first model of each recipe
	ids    map[events.ID]bool
	timed  map[timerKey]bool // the timers that machines await
}

func (k *checkpointReader) read(parts [][]byte) (err error) {
	if len(parts) == 0 {
		return errors.New("it has no text")
	}
	k.Reader = &plaindata.Reader{}
	var head checkpointHead
	for i, part := range parts {
		steps := []func() error{
			func() error { return k.Key("machines") },
			func() error { return k.Want('[') },
			k.all,
			func() error { return k.Want(']') },
			func() error { return k.Want('}') },
			k.End,
		}
		if i == 0 {
			steps = append([]func() error{
				func() error { return k.Key("engine") },
				func() error { return k.Value(checkpointHeadShape, reflect.ValueOf(&head).Elem()) },
				func() error { return k.head(head) },
			}, steps...)
		}
		if err := k.Begin(part); err != nil {
			return err
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
	}
	if len(k.machines) != head.machines {
		return fmt.Errorf("it has %d machines, of %d", len(k.machines), head.machines)
	}
	return k.checkTimers()
}

// head checks the recipes before a model is read: the models of another version cannot be.
func (k *checkpointReader) head(head checkpointHead) error {
	if head.version != checkpointVersion {
		return fmt.Errorf("its version is %d, and this program knows %d", head.version, checkpointVersion)
	}
	k.seq, k.machines = head.seq, []savedMachine{}
	for i, t := range head.timers {
		k.timers = append(k.timers, timer{t.machine, t.number, uint64(i) + 1, t.since, t.at})
	}
	k.used, k.first, k.ids, k.timed = map[string]*recipe{}, map[string]any{}, map[events.ID]bool{}, map[timerKey]bool{}
	for i, r := range head.recipes {
		if i > 0 && byName(head.recipes[i-1], r) >= 0 {
			return fmt.Errorf("the recipe %.40q is repeated or out of order", r.name)
		}
		used, err := k.engine.recipeOf(r.name, r.chart, r.model)
		if err != nil {
			return err
		}
		k.used[r.name] = used
	}
	return nil
}

func (k *checkpointReader) all() error {
	for k.More() {
		if err := k.machine(); err != nil {
			return fmt.Errorf("machine %d: %w", len(k.machines)+1, err)
		}
	}
	return nil
}

func (k *checkpointReader) machine() error {
	var head machineHead
	if err := errors.Join(k.Want('{'), k.Key("machine")); err != nil {
		return err
	}
	if err := k.Value(machineHeadShape, reflect.ValueOf(&head).Elem()); err != nil {
		return err
	}
	r, known := k.used[head.recipe]
	if !known {
		return fmt.Errorf("its recipe %.40q is not among those of the checkpoint", head.recipe)
	}
	if err := k.Key("model"); err != nil {
		return err
	}
	model, err := k.Model(r.modelType.shape, k.first[head.recipe])
	if err == nil {
		err = k.Want('}')
	}
	if err != nil {
		return fmt.Errorf("%.40q: %w", head.id, err)
	}
	m := savedMachine{head.id, head.recipe, r.digest, head.state, head.pending, model, r.modelType}
	if err := k.check(m, r); err != nil {
		return fmt.Errorf("%.40q: %w", head.id, err)
	}
	if k.first[m.recipe] == nil {
		k.first[m.recipe] = m.model
	}
	k.ids[m.id] = true
	for _, a := range m.pending.open {
		if a.timer {
			k.timed[timerKey{m.id, a.number}] = true
		}
	}
	k.machines = append(k.machines, m)
	return nil
}
