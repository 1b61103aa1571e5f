package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Description is a chart as plain data, for drawings and tables.
type Description struct {
	Name, Doc  string
	States     []StateDoc
	Final      State
	Composites []Composite
	Happy      []State
	Kinds      []events.Kind
	Rows       []RowDoc
	Ignored    []IgnoreDoc
	Model      string // name of the type that has the guards and actions as methods
}

// Summary returns the first line of Doc: what fits under a title.
func (d Description) Summary() string {
	first, _, _ := strings.Cut(d.Doc, "\n")
	return first
}

// RowDoc is one row as written: From and On may name many states and kinds, To is Stay
// if the state does not change. Rows for one state and kind are in the order in which
// they are tried; AtOnce is the only kind of a choice's rows.
type RowDoc struct {
	From    []State
	On      []events.Kind
	Guard   string
	To      State
	Actions []string // in the order in which they run
}

// Action returns the names of the row's actions, as the drawings show them.
func (r RowDoc) Action() string { return strings.Join(r.Actions, ", ") }

// Label returns the row's name, with all of its kinds.
func (r RowDoc) Label() string { return label(events.Kind(joined(r.On)), r.Guard) }

// Labels returns the row's names as the log and the drawings show them: one for each
// of its kinds.
func (r RowDoc) Labels() []string {
	var all []string
	for _, kind := range r.On {
		all = append(all, label(kind, r.Guard))
	}
	return all
}

func label(on events.Kind, guard string) string {
	switch {
	case on == AtOnce && guard == "":
		return "else"
	case guard == "":
		return string(on)
	case on == AtOnce:
		return "[" + guard + "]"
	}
	return string(on) + " [" + guard + "]"
}

// joined returns the names of kinds, with commas.
func joined(kinds []events.Kind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}

// IgnoreDoc is one (state, kind) that is ignored, and why.
type IgnoreDoc struct {
	State State
	Kind  events.Kind
	Why   string
}

// Describe returns a compiled chart as plain data.
func Describe[M any](c *Compiled[M]) Description { return describe(c.compiled) }

func describe(c *compiled) Description {
	d := Description{
		Name: c.chart.name, Doc: c.chart.doc, States: c.chart.states, Final: c.chart.final,
		Composites: c.chart.composites, Happy: c.chart.happy, Kinds: c.chart.kinds, Model: c.chart.model,
	}
	for _, r := range c.chart.rows {
		doc := RowDoc{From: r.from, On: r.on.kinds, To: r.to}
		if r.when != nil {
			doc.Guard = r.is.when.last()
		}
		for _, do := range r.steps() {
			doc.Actions = append(doc.Actions, do.last())
		}
		d.Rows = append(d.Rows, doc)
	}
	for _, ig := range c.chart.ignores {
		for _, s := range ig.In {
			for _, k := range ig.On {
				d.Ignored = append(d.Ignored, IgnoreDoc{s, k, ig.Why})
			}
		}
	}
	return d
}

// ByKind returns the rows, each with one kind, as a log names them: a row on several
// kinds becomes several.
func (d Description) ByKind() []RowDoc {
	var all []RowDoc
	for _, r := range d.Rows {
		for _, kind := range r.On {
			one := r
			one.On = []events.Kind{kind}
			all = append(all, one)
		}
	}
	return all
}

// Choice reports whether a state is a choice, where a machine goes on in the same step.
func (d Description) Choice(s State) bool {
	return slices.ContainsFunc(d.Rows,
		func(r RowDoc) bool { return slices.Contains(r.On, AtOnce) && slices.Contains(r.From, s) })
}

// Edge is one arrow in looplab's form: one state, one event name, one target.
type Edge struct {
	From State
	Name string
	To   State
}

// String returns the arrow as golden traces write it.
func (e Edge) String() string { return fmt.Sprintf("%s --%s--> %s", e.From, e.Name, e.To) }

// Edges returns every arrow of a description, row by row.
func (d Description) Edges() []Edge {
	var all []Edge
	for _, r := range d.Rows {
		for _, from := range r.From {
			to := r.To
			if to == Stay {
				to = from
			}
			for _, name := range r.Labels() {
				all = append(all, Edge{from, name, to})
			}
		}
	}
	return all
}
