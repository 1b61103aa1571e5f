package drawing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// states are the names in a text.
func states(names string) (all []engine.State) {
	for _, s := range strings.Fields(names) {
		all = append(all, engine.State(s))
	}
	return all
}

// row returns a row that is written as its states, its kinds, its guard, its target and its actions.
func row(from, on, guard string, to engine.State, actions string) engine.RowDoc {
	r := engine.RowDoc{From: states(from), Guard: guard, To: to, Actions: strings.Fields(actions)}
	for kind := range strings.SplitSeq(on, ", ") {
		r.On = append(r.On, events.Kind(kind))
	}
	return r
}

// worker is a chart that asks for a node, and holds it.
func worker() engine.Description {
	return engine.Description{
		Name: "worker", Doc: "A toy.", Final: "over", Happy: states("ready asking holding over"),
		States: []engine.StateDoc{{Name: "ready", Doc: "Not asked."}, {Name: "asking", Doc: "Asked."},
			{Name: "holding", Doc: "Held."}, {Name: "pausing", Doc: "Waiting."}, {Name: "over", Doc: "Over."}},
		Kinds: []events.Kind{events.CommandStart, events.CommandClose, events.ReplyCreate, events.ReplyStat,
			events.TimerFired, events.ConnectionLost, events.WatchDeleted},
		Rows: []engine.RowDoc{
			row("ready", "command.start", "", "asking", "ask"),
			row("asking", "reply.create", "made", "holding", "note"),
			row("asking", "reply.create", "taken", engine.Stay, "note"),
			row("asking", "reply.create", "", "pausing", "dawdle"),
			row("asking holding", "reply.stat", "", engine.Stay, "note"),
			row("asking", "timer.fired", "", "pausing", "dawdle"),
			row("holding pausing", "reply.create", "", engine.Stay, "note"),
			row("pausing", "timer.fired", "", "asking", "ask"),
			row("asking holding pausing", "connection.lost", "", "ready", "note"),
			row("holding", "watch.deleted", "", "holding", "note"),
			row("ready asking holding pausing", "command.close", "", "over", "bye"),
		},
		Ignored: []engine.IgnoreDoc{{State: "ready", Kind: "watch.deleted", Why: "nothing is watched"},
			{State: "ready", Kind: "reply.create", Why: "nothing was asked"},
			{State: "asking", Kind: "watch.deleted", Why: "nothing is watched"},
			{State: "pausing", Kind: "watch.deleted", Why: "nothing is watched"}},
	}
}

// chooser is worker, but for its choice: what comes of an answer that is not made, and after a pause.
func chooser() engine.Description {
	d := worker()
	d.States = append(d.States, engine.StateDoc{Name: "choosing", Doc: "What comes next is decided at once."})
	for _, i := range []int{2, 3, 7} {
		d.Rows[i].To = "choosing"
	}
	d.Rows = append(d.Rows,
		row("choosing", "at once", "unlucky", "pausing", "dawdle"),
		row("choosing", "at once", "taken", "asking", "note"),
		row("choosing", "at once", "", "ready", "note"))
	return d
}

// mustHave asks that a text has each of the lines, or parts of lines.
func mustHave(t *testing.T, what, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains(text, l) {
			t.Errorf("%s lacks %q:\n%s", what, l, text)
		}
	}
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("%s:\n got %s\nwant %s", what, g, w)
	}
}
