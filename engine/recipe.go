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
	bind() maker
	rewire(digest string, change func(*Wiring)) Recipe
}

type recipe[M any] struct {
	*steppers[M]
	make func(open events.Event) (*M, error)
}

// maker makes the machines of one recipe in one engine.
type maker struct {
	open    func(open events.Event) (instance, error)
	restore func(savedMachine) instance
	rests   func(State) bool // a machine can be in that state between two steps
	digest  string           // the chart's
	final   State
	model   *modelType
}

// NewRecipe returns a recipe of a chart and the function that returns its model for a
// command.open event. The function must depend on nothing but the event, because a replay calls
// it again.
func NewRecipe[M any](c *Compiled[M], make func(open events.Event) (*M, error)) Recipe {
	return recipe[M]{newSteppers(c, modelTypeOf(reflect.TypeFor[M]())), make}
}

func (r recipe[M]) Describe() Description { return Describe(r.Compiled) }

func (r recipe[M]) bind() maker {
	machine := func(model *M, state State) *Machine[M] {
		return &Machine[M]{Model: model, steppers: r.steppers, state: state}
	}
	open := func(open events.Event) (instance, error) {
		model, err := r.make(open)
		if err != nil {
			return nil, err
		}
		return machine(model, r.chart.States[0].Name), nil
	}
	restore := func(s savedMachine) instance {
		m := machine(r.modelType.copied(s.model).(*M), s.state)
		m.pending = s.pending.copied()
		return m
	}
	return maker{open, restore, r.rests, r.digest, r.chart.Final, r.modelType}
}
