package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// State is what is true of a machine between two events.
type State string

// Stay as a row's To means that the state does not change.
const Stay State = ""

// AtOnce as a row's On makes its state a choice: a machine never stays there.
// A row that leads there goes on in the same step, by the first of the choice's
// rows whose guard holds, with the same event and outbox. A choice gets no event,
// its last row has no guard, and none of its rows leads to another choice.
const AtOnce events.Kind = "at once"

// Guard reports whether a row applies. It must be a method expression or a
// plain function, so that it has a name: an adjective.
type Guard[M any] func(*M, events.Event) bool

// Action changes the model and appends effects. It must have a name: a verb.
type Action[M any] func(*M, events.Event, *Outbox)

// Trigger is the set of kinds on which a row is taken. On returns it.
type Trigger struct {
	kinds []events.Kind
	pc    uintptr // where On was called
}

// On returns a row's trigger: the row is taken on any of the kinds. It keeps the line
// of its caller, which MustCompile names if the row is wrong.
func On(kinds ...events.Kind) Trigger {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	return Trigger{kinds, pc[0]}
}

// Has reports whether the trigger names a kind.
func (t Trigger) Has(k events.Kind) bool { return slices.Contains(t.kinds, k) }

// Row is one line of a chart: in each of the states From, each of the kinds On leads to
// the state To (or to no other, if To is Stay), and runs the action Do. Rows of the
// same (state, kind) are tried in order, and the first whose guard When holds is
// taken; the last of such a group has no guard. The action Then runs after Do in the
// same step, so two actions that other rows use as well need no third that joins them.
type Row[M any] struct {
	From []State
	On   Trigger
	When Guard[M]
	To   State
	Do   Action[M]
	Then Action[M]

	lifted symbols // of the part's row, if Lift returned this one
}

// Ignore says that kinds change nothing in states, and why that is right.
type Ignore struct {
	In  []State
	On  []events.Kind
	Why string
}

// StateDoc names a state and says what is true in it.
type StateDoc struct {
	Name  State
	Class events.Class
	Does  string // what the machine does in it, in a few words for an error: "its node is being created"
	Doc   string
}

func (s StateDoc) entered() events.Entered {
	return events.Entered{State: string(s.Name), Class: s.Class, Does: s.Does}
}

// Composite is a state that users see, drawn around its inner states.
type Composite struct {
	Name   string
	States []State
}

// Chart is one recipe's table. States are in the order in which they are drawn; a
// machine begins in the first. Happy is the path that a new reader should see first.
// Doc is one line, and may go on in Markdown.
type Chart[M any] struct {
	Name       string
	Doc        string
	States     []StateDoc
	Final      State // a machine that enters it is closed, and the engine deletes it
	Composites []Composite
	Happy      []State
	Kinds      []events.Kind
	Rows       []Row[M]
	Ignores    []Ignore
}

// answers reports whether events of a kind only answer requests and timers, so that
// only the states that await them need rows for them.
func answers(k events.Kind) bool {
	switch k {
	case events.ReplyDelete, events.ReplyStat, events.ReplyChildren,
		events.ReplyMulti, events.ReplySync, events.ReplyWatch, events.TimerFired:
		return true
	}
	return false
}

type key struct {
	state State
	kind  events.Kind
}

// arrow is a row in one of its states, on one of its kinds.
type arrow struct {
	row   int    // its index in the chart's rows
	name  string // its name in looplab: "reply.children [behind]"
	guard string
	tried []string // the guards of the arrows before it, which did not hold if it is taken
	when  guard
	acts  []act
	to    State

	number int // among the arrows of its chart
}

// act is one action of a row, and its name.
type act struct {
	name string
	do   action
}

// Compiled is a chart of a model M that passed every check. It is immutable, so any number
// of engines may share it.
type Compiled[M any] struct{ *compiled }

// compiled is a Compiled of any model.
type compiled struct {
	chart   chart
	arrows  map[key][]arrow
	ignored map[key]string
	digest  string
	edges   edgeList // the arrows again, for looplab
}

// MustCompile checks a chart, and panics with everything that is wrong with it, as
// regexp.MustCompile does. A RecipeOf calls it at its first use. The text names a row by
// its source line, its number in the chart, its kinds, states and guard. If charts
// share a row, the first that is compiled panics. It refuses
//   - a (state, kind) that neither a row nor an Ignore decides,
//   - a guarded group without an else row, or a row after the else,
//   - a state that no arrow leads to, or that is not listed in States, a kind that
//     is not declared, and a happy path with a step that no row takes,
//   - duplicate rows, rows out of the final state, and an Ignore for what a row
//     decides or without a reason,
//   - a choice that gets an event, stays, leads to another choice, is the first
//     or the final state, or that an Ignore names,
//   - guards and actions without a name of their own: closures, generic receivers.
func MustCompile[M any](c Chart[M]) *Compiled[M] {
	compiled, problems := compile(c.ofAny())
	if len(problems) > 0 {
		panic(fmt.Sprintf("engine: chart %q:\n\t%s", c.Name, strings.Join(problems, "\n\t")))
	}
	return &Compiled[M]{compiled}
}

func compile(c chart) (*compiled, []string) {
	x := &compiled{chart: c, arrows: map[key][]arrow{}, ignored: map[key]string{}}
	k := &checker{compiled: x, listed: map[State]bool{}}
	k.states()
	k.kinds()
	k.rows()
	k.ignores()
	k.groups()
	k.tried()
	k.total()
	k.choices()

	k.reachable()
	k.happy()
	x.digest, x.edges = digest(x), edges(x)
	return x, k.problems
}

// digest returns a hash of what a machine does in each state, however the rows are
// written.
func digest(c *compiled) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s final=%s\n", c.chart.name, c.chart.final)
	for _, s := range c.chart.states {
		fmt.Fprintln(h, "state", s.Name)
		for _, kind := range append(slices.Clone(c.chart.kinds), AtOnce) {
			for _, a := range c.arrows[key{s.Name, kind}] {
				fmt.Fprint(h, "arrow ", a.name, " ", a.to)
				for _, act := range a.acts {
					fmt.Fprint(h, " ", act.name)
				}
				fmt.Fprintln(h)
			}
			if _, ok := c.ignored[key{s.Name, kind}]; ok {
				fmt.Fprintln(h, "ignore", kind)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// choice reports whether a state is a choice.
func (c *compiled) choice(s State) bool { return len(c.arrows[key{s, AtOnce}]) > 0 }

// awaits reports whether a state has a row for an answer of this kind.
func (c *compiled) awaits(s State, k events.Kind) bool { return len(c.arrows[key{s, k}]) > 0 }

// Name returns the chart's name; a log says by it which recipe a machine has.
func (c *compiled) Name() string { return c.chart.name }

// Digest returns a hash that changes whenever what a machine does in some state
// changes, but not when the same is written in fewer rows. It is in a log where a machine is opened.
func (c *compiled) Digest() string { return c.digest }
