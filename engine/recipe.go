package engine

import (
	"reflect"
	"slices"

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
	return newRecipe(c, make)
}

func newRecipe[M any](c *Compiled[M], make func(open events.Event) (*M, error)) *recipe {
	return &recipe{newSteppers(c.compiled, modelTypeOf(reflect.TypeFor[M]())), anyModel(make)}
}

func anyModel[M any](make func(open events.Event) (*M, error)) func(open events.Event) (any, error) {
	return func(open events.Event) (any, error) { return make(open) }
}

// RecipeOf is the recipe of models M, whose chart is compiled at its first use. It is meant for package variables. As
// long as its literal names functions and calls none, it is data, and the linker leaves out of a program the recipes
// that the program never mentions. What the initializer of a variable calls is always linked, and runs at the start.
// The first use panics if the chart is wrong: see MustCompile. All its methods are safe for concurrent use.
type RecipeOf[M any] struct {
	Named string                              // the chart's name, which Chart leaves out
	Chart func() Chart[M]                     // called once
	Open  func(open events.Event) (*M, error) // as for NewRecipe

	lazy
}

// Name implements Recipe. It compiles nothing.
func (r *RecipeOf[M]) Name() string { return r.Named }

// Digest implements Recipe.
func (r *RecipeOf[M]) Digest() string { return r.own().digest }

// First implements Recipe.
func (r *RecipeOf[M]) First() events.Entered { return r.own().First() }

// Describe implements Recipe.
func (r *RecipeOf[M]) Describe() Description { return r.own().Describe() }

// With returns a recipe of the same chart that gets its models from another function.
func (r *RecipeOf[M]) With(make func(open events.Event) (*M, error)) Recipe {
	return &recipe{r.own().steppers, anyModel(make)}
}

func (r *RecipeOf[M]) own() *recipe {
	return r.get(func() *recipe {
		c := r.Chart()
		c.Name = r.Named
		return newRecipe(MustCompile(c), r.Open)
	})
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
	return &Machine{Model: model, steppers: r.steppers}, nil
}

// restored returns a machine of a checkpoint.
func (r *recipe) restored(s savedMachine) *Machine {
	model := r.modelType.copied(s.model)
	m := &Machine{Model: model, steppers: r.steppers, pending: s.pending.copied()}
	m.enter(s.state)
	return m
}

// recipes are those that an engine knows.
type recipes struct {
	all  []Recipe
	used map[string]*recipe // by name: a client uses few
}

// find returns a recipe, nil if there is none of that name. If several have one name, it is the last.
func (k *recipes) find(name string) *recipe {
	if r := k.used[name]; r != nil {
		return r
	}
	for _, r := range slices.Backward(k.all) {
		if r.Name() == name {
			k.used[name] = r.own()
			return k.used[name]
		}
	}
	return nil
}

// learn adds a recipe, unless one of that name is known.
func (k *recipes) learn(r named) {
	if !slices.ContainsFunc(k.all, func(known Recipe) bool { return known.Name() == r.Name() }) {
		k.all = append(k.all, r.(Recipe))
	}
}

// Open opens another machine of the same engine. The engine need not have known the recipe before. The event has what
// the machine is to know: path, data, seed, options.
func (o *Outbox) Open(id events.ID, r Recipe, open events.Event) {
	if o.recipes != nil {
		o.recipes.learn(r)
	}
	open.Kind, open.Recipe = events.CommandOpen, r.Name()
	o.Tell(id, open)
}
