package engine

import (
	"reflect"

	"github.com/incumbent-go/incumbent/events"
)

// Recipe creates machines of one chart. New takes recipes.
type Recipe interface {
	Name() string          // the chart's, by which logs and command.open name the recipe
	Digest() string        // of the chart: a log is replayed only by charts with its digests
	Describe() Description // of the chart, to draw it
	First() events.Entered // the state in which its machines begin
	own() *recipe
}

type recipe struct {
	*steppers
	open func(open events.Event) (model any, err error)
}

// NewRecipe returns a recipe of a chart and the function that returns its model for a
// command.open event. The function must depend on nothing but the event, because a replay calls
// it again.
func NewRecipe[M any](c *Compiled[M], make func(open events.Event) (*M, error)) Recipe {
	open := func(open events.Event) (any, error) { return make(open) }
	return &recipe{newSteppers(c.compiled, modelTypeOf(reflect.TypeFor[M]())), open}
}

func (r *recipe) own() *recipe          { return r }
func (r *recipe) Describe() Description { return describe(r.compiled) }
func (r *recipe) First() events.Entered { return r.chart.states[0].entered() }

// machine returns a machine in its first state.
func (r *recipe) machine(open events.Event) (*Machine, error) {
	model, err := r.open(open)
	if err != nil {
		return nil, err
	}
	return &Machine{Model: model, steppers: r.steppers, state: r.chart.states[0].Name}, nil
}

// restored returns a machine of a checkpoint.
func (r *recipe) restored(s savedMachine) *Machine {
	model := r.modelType.copied(s.model)
	return &Machine{Model: model, steppers: r.steppers, state: s.state, pending: s.pending.copied()}
}
