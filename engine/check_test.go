package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/events"
)

// generic has guards whose names the linker does not tell.
type generic[T any] struct{}

func (g *generic[T]) fits(events.Event) bool         { return true }
func (g *generic[T]) act(events.Event, *Outbox)      {}
func plainly(*worker, events.Event) bool             { return true }
func genericGuard[T any](*worker, events.Event) bool { return true }

var bound = &worker{}

func (w *worker) boundGuard(*worker, events.Event) bool { return true }

// Each of these changes breaks a good chart in one way, and the panic has to
// name it.
var refusals = []struct {
	name  string
	spoil func(*Chart[worker])
	says  string
}{
	{"undecided pair", func(c *Chart[worker]) { c.Ignores = c.Ignores[1:] },
		"connection.lost in ready: nobody decided; add a row or an Ignore"},
	{"undecided create", func(c *Chart[worker]) { c.Ignores = c.Ignores[1:] },
		"reply.create in ready: nobody decided; add a row or an Ignore"},
	{"missing else", func(c *Chart[worker]) { c.Rows = append(c.Rows[:3:3], c.Rows[4:]...) },
		"reply.create in asking: no row for when [taken] does not hold either"},
	{"row after the else", func(c *Chart[worker]) { c.Rows[2], c.Rows[3] = c.Rows[3], c.Rows[2] },
		"reply.create in asking: a row stands after the one without a guard"},
	{"two else rows", func(c *Chart[worker]) { c.Rows = append(c.Rows, c.Rows[0]) },
		"command.start in ready: two rows with guard []"},
	{"the same guard twice", func(c *Chart[worker]) { c.Rows[2].When = (*worker).made },
		"reply.create in asking: two rows with guard [made]"},
	{"unreachable state", func(c *Chart[worker]) {
		c.States = append(c.States, StateDoc{Name: "nowhere", Doc: "Not to be reached."})
		c.Ignores = append(c.Ignores, Ignore{[]State{"nowhere"}, c.Kinds, "cannot be"})
	}, "state nowhere: no arrow leads to it"},
	{"a state that only leads to itself", func(c *Chart[worker]) {
		c.States = append(c.States, StateDoc{Name: "nowhere", Doc: "Not to be reached."})
		c.Rows = append(c.Rows, Row[worker]{From: []State{"nowhere"}, On: On(events.CommandStart), To: "nowhere"})
		c.Ignores = append(c.Ignores, Ignore{[]State{"nowhere"}, c.Kinds[1:], "cannot be"})
	}, "state nowhere: no arrow leads to it"},
	{"state listed twice", func(c *Chart[worker]) { c.States = append(c.States, StateDoc{Name: ready}) },
		"state ready is listed twice"},
	{"row from an unlisted state", func(c *Chart[worker]) { c.Rows[0].From = []State{"redy"} },
		`row 1 (command.start in redy) names state "redy", which States does not list`},
	{"row to an unlisted state", func(c *Chart[worker]) { c.Rows[0].To = "askin" },
		`row 1 (command.start in ready) names state "askin", which States does not list`},
	{"row from nowhere", func(c *Chart[worker]) { c.Rows[0].From = nil }, "row 1 (command.start): starts nowhere"},
	{"row out of the final state", func(c *Chart[worker]) { c.Rows[0].From = []State{ready, over} },
		"row 1 (command.start in ready, over): leaves the final state over"},
	{"undeclared kind", func(c *Chart[worker]) { c.Rows[0].On = On(events.ReplyMulti) },
		"row 1 (reply.multi in ready): kind reply.multi is not declared in Kinds"},
	{"composite of an unlisted state", func(c *Chart[worker]) { c.Composites = []Composite{{"A", []State{"b"}}} },
		`composite A names state "b"`},
	{"happy path through an unlisted state", func(c *Chart[worker]) { c.Happy = []State{"b"} },
		`the happy path names state "b"`},
	{"unlisted final state", func(c *Chart[worker]) { c.Final = "b" }, `Final names state "b"`},
	{"ignored though a row decides", func(c *Chart[worker]) { c.Ignores[0].In = []State{ready, asking} },
		"reply.create in asking is ignored, but a row decides it"},
	{"ignored twice", func(c *Chart[worker]) { c.Ignores = append(c.Ignores, c.Ignores[0]) },
		"reply.create in ready is ignored twice"},
	{"ignored in an unlisted state", func(c *Chart[worker]) { c.Ignores[0].In = []State{ready, "b"} },
		`an Ignore names state "b"`},
	{"ignored without a reason", func(c *Chart[worker]) { c.Ignores[0].Why = "" },
		"an Ignore of [reply.create connection.lost] does not say why"},
	{"closure as guard", func(c *Chart[worker]) { c.Rows[1].When = func(*worker, events.Event) bool { return true } },
		"is a closure or bound method"},
	{"closure as action", func(c *Chart[worker]) { c.Rows[1].Do = func(*worker, events.Event, *Outbox) {} },
		"row 2 (reply.create in asking [made]): action"},
	{"bound method", func(c *Chart[worker]) { c.Rows[1].When = bound.boundGuard }, "is a closure or bound method"},
	{"generic function", func(c *Chart[worker]) { c.Rows[1].When = genericGuard[int] }, "its name cannot be drawn"},
	{"no states", func(c *Chart[worker]) { c.States = nil }, "no states"},
	{"ignored kind that is not declared",
		func(c *Chart[worker]) { c.Ignores[0].On = append(c.Ignores[0].On, events.HeartbeatUnneeded) },
		"an Ignore names kind heartbeat.unneeded, which Kinds does not declare"},
	{"a command that nobody answers", func(c *Chart[worker]) {
		c.Kinds = append(c.Kinds, events.CommandAwait)
		c.Ignores = append(c.Ignores, Ignore{[]State{ready}, []events.Kind{events.CommandAwait}, "a toy"})
	}, "command.await in ready is ignored: the caller waits for an answer"},
	{"kind declared twice", func(c *Chart[worker]) { c.Kinds = append(c.Kinds, c.Kinds[0]) },
		"kind command.start is declared twice"},
	{"happy path that cannot be walked", func(c *Chart[worker]) { c.Happy = []State{ready, holding} },
		"the happy path goes from ready to holding, but no row does"},
	{"a second action without a first", func(c *Chart[worker]) { c.Rows[0].Do, c.Rows[0].Then = nil, (*worker).ask },
		"Then follows nothing"},
	{"unknown kind", func(c *Chart[worker]) { c.Kinds = append(c.Kinds, "watch.eaten") },
		"kind watch.eaten is not one of events.Kinds"},
}

func TestMustCompileRefuses(t *testing.T) {
	for _, r := range refusals {
		t.Run(r.name, func(t *testing.T) {
			c := workerTable()
			r.spoil(&c)
			got := refusal(func() { MustCompile(c) })
			if !strings.Contains(got, r.says) {
				t.Errorf("got  %s\nwant %s", got, r.says)
			}
		})
	}
}

func refusal(do func()) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said = fmt.Sprint(r)
		}
	}()
	do()
	return "(it was accepted)"
}

func TestMustCompileRefusesGenericReceivers(t *testing.T) {
	c := Chart[generic[int]]{
		Name: "generic", States: []StateDoc{{Name: "a"}, {Name: "b"}}, Final: "b",
		Kinds: []events.Kind{events.CommandClose},
		Rows: []Row[generic[int]]{
			{From: []State{"a"}, On: On(events.CommandClose), When: (*generic[int]).fits,
				To: "b", Do: (*generic[int]).act},
			{From: []State{"a"}, On: On(events.CommandClose), To: "b"},
		},
	}
	got := refusal(func() { MustCompile(c) })
	for _, what := range []string{"guard", "action"} {
		if !strings.Contains(got, "row 1 (command.close in a [fits]): "+what) {
			t.Errorf("the %s of a generic type was accepted: %s", what, got)
		}
	}
}

// One run of the program tells everything that is wrong.
func TestMustCompileTellsAllProblemsAtOnce(t *testing.T) {
	c := workerTable()
	c.Rows[0].To = "askin"
	c.Rows[1].Do = func(*worker, events.Event, *Outbox) {}
	c.Ignores[0].Why = ""
	got := refusal(func() { MustCompile(c) })
	for _, says := range []string{`chart "worker"`, `"askin"`, "closure", "does not say why"} {
		if !strings.Contains(got, says) {
			t.Errorf("%q is missing from: %s", says, got)
		}
	}
}

func TestPlainFunctionsHaveNames(t *testing.T) {
	c := workerTable()
	c.Rows[1].When = plainly
	d := Describe(MustCompile(c))
	want(t, "guard", d.Rows[1].Guard, "plainly")
	want(t, "label", d.Rows[1].Labels(), []string{"reply.create [plainly]"})
	want(t, "action", d.Rows[1].Action(), "note")
}

// The digest is what tells a log's reader that the table is another one.
func TestDigestChangesWithTheTable(t *testing.T) {
	seen := map[string]string{workerChart.Digest(): "the table itself"}
	for name, change := range map[string]func(*Chart[worker]){
		"guard":  func(c *Chart[worker]) { c.Rows[1].When = plainly },
		"action": func(c *Chart[worker]) { c.Rows[1].Do = (*worker).dawdle },
		"target": func(c *Chart[worker]) { c.Rows[1].To = pausing },
		"order":  func(c *Chart[worker]) { c.Rows[1], c.Rows[2] = c.Rows[2], c.Rows[1] },
		"ignore": func(c *Chart[worker]) {
			c.Rows = append(c.Rows[:9:9], c.Rows[10:]...)
			c.Ignores[1].In = append(c.Ignores[1].In, holding)
		},
	} {
		c := workerTable()
		change(&c)
		x, _ := compile(c.ofAny())
		if other := seen[x.Digest()]; other != "" {
			t.Errorf("a changed %s gives the digest of %s", name, other)
		}
		seen[x.Digest()] = name
	}
	c := workerTable()
	c.Doc, c.States[0].Doc, c.Happy = "Other words.", "Other words.", nil
	want(t, "digest after a change of words only", MustCompile(c).Digest(), workerChart.Digest())
}
