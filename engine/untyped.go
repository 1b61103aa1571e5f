package engine

import (
	"reflect"

	"github.com/incumbent-go/incumbent/events"
)

// Charts of any model, so that a program has one copy of the code that checks them and steps machines. A model is a
// pointer here, and an event is not copied before the guard or the action gets it.
type (
	guard  func(model any, ev *events.Event) bool
	action func(model any, ev *events.Event, out *Outbox)

	// row is a Row.
	row struct {
		from     []State
		on       Trigger
		when     guard
		to       State
		do, then action
		is       symbols
	}

	// chart is a Chart.
	chart struct {
		name, doc  string
		states     []StateDoc
		final      State
		composites []Composite
		happy      []State
		kinds      []events.Kind
		rows       []row
		ignores    []Ignore
		model      string // the name of its type
	}
)

func (c Chart[M]) ofAny() chart {
	rows := make([]row, len(c.Rows))
	for i, r := range c.Rows {
		rows[i] = row{r.From, r.On, r.When.ofAny(), r.To, r.Do.ofAny(), r.Then.ofAny(), r.symbols()}
	}
	model := reflect.TypeFor[M]().Name()
	return chart{c.Name, c.Doc, c.States, c.Final, c.Composites, c.Happy, c.Kinds, rows, c.Ignores, model}
}

func (g Guard[M]) ofAny() guard {
	if g == nil {
		return nil
	}
	return func(model any, ev *events.Event) bool { return g(model.(*M), *ev) }
}

func (a Action[M]) ofAny() action {
	if a == nil {
		return nil
	}
	return func(model any, ev *events.Event, out *Outbox) { a(model.(*M), *ev, out) }
}

// step is an action of a row, and its symbol.
type step struct {
	symbol
	do action
}

// steps returns the row's actions, in order.
func (r row) steps() (all []step) {
	for _, one := range []step{{r.is.do, r.do}, {r.is.then, r.then}} {
		if one.do != nil {
			all = append(all, one)
		}
	}
	return all
}
