package statecharts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/drawing"
	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// xstateDir is where make deps installs XState.
var xstateDir = filepath.Join("..", "..", "..", ".cache", "npm")

// step is one event in one state, and the guards that hold.
type step struct {
	Chart  string       `json:"chart"`
	State  engine.State `json:"state"`
	Event  events.Kind  `json:"event"`
	Guards []string     `json:"guards"`
	want   outcome
}

// outcome is where a step leads, and the actions that run, in order.
type outcome struct {
	State   engine.State `json:"state"`
	Actions []string     `json:"actions"`
}

// XState itself takes every chart, and goes where the engine goes: from each state, by each event, for each guard that
// may be the first that holds, and each way on from a choice.
func TestXStateDecidesAsTheEngine(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		realzk.NotRun(t, "XState (no node)")
	}
	if _, err := os.Stat(filepath.Join(xstateDir, "node_modules", "xstate")); err != nil {
		realzk.NotRun(t, "XState (not installed: make deps)")
	}
	charts, steps := map[string]json.RawMessage{}, []step{}
	for _, r := range machines.Recipes() {
		d := r.Describe()
		text, err := drawing.XState(d)
		if err != nil {
			t.Fatal(err)
		}
		charts[d.Name] = json.RawMessage(text)
		steps = append(steps, stepsOf(d)...)
	}
	got := xstate(t, node, map[string]any{"charts": charts, "steps": steps}, len(steps))
	for i, s := range steps {
		if got[i].State != s.want.State || !slices.Equal(got[i].Actions, s.want.Actions) {
			t.Errorf("%s: %s in %s with %q leads to %v, want %v", s.Chart, s.Event, s.State, s.Guards, got[i], s.want)
		}
	}
	t.Logf("%d charts, %d steps", len(charts), len(steps))
}

// xstate takes the steps.
func xstate(t *testing.T, node string, input any, steps int) (got []outcome) {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	var out, diagnosis bytes.Buffer
	c := exec.CommandContext(t.Context(), node, "xstate.mjs", xstateDir)
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(text), &out, &diagnosis
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, diagnosis.Bytes())
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got) != steps {
		t.Fatalf("%d results for %d steps, %v", len(got), steps, err)
	}
	return got
}

// stepsOf returns the steps of a chart, and where its table leads.
func stepsOf(d engine.Description) (all []step) {
	for _, s := range d.States {
		for _, kind := range d.Kinds {
			if s.Name == d.Final || d.Choice(s.Name) { // no event comes there
				continue
			}
			one := step{Chart: d.Name, State: s.Name, Event: kind, want: outcome{State: s.Name}}
			if !decided(d, s.Name, kind) { // ignored
				all = append(all, one)
			}
			all = append(all, ways(d, one, kind)...)
		}
	}
	return all
}

// decided reports whether a state has rows on a kind.
func decided(d engine.Description, s engine.State, kind events.Kind) bool {
	return slices.ContainsFunc(d.Rows, func(r engine.RowDoc) bool {
		return slices.Contains(r.From, s) && slices.Contains(r.On, kind)
	})
}

// ways returns a step for each row that may be the first whose guard holds, and for each way on if it leads to a
// choice.
func ways(d engine.Description, at step, kind events.Kind) (all []step) {
	// guards of the rows that are tried first: if one is the row's own, the row is never taken by it
	var before []string
	for _, r := range d.Rows {
		if !slices.Contains(r.From, at.want.State) || !slices.Contains(r.On, kind) ||
			r.Guard != "" && slices.Contains(before, r.Guard) {
			continue
		}
		next := at
		next.Guards = slices.Clone(at.Guards)
		if r.Guard != "" {
			next.Guards, before = append(next.Guards, r.Guard), append(before, r.Guard)
		}
		if r.To != engine.Stay {
			next.want.State = r.To
		}
		next.want.Actions = slices.Concat(at.want.Actions, r.Actions)
		if kind != engine.AtOnce && d.Choice(next.want.State) {
			all = append(all, ways(d, next, engine.AtOnce)...)
			continue
		}
		all = append(all, next)
	}
	return all
}
