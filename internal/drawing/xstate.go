package drawing

import (
	"encoding/json"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// xMachine is a chart in the JSON form of XState v5, a library for statecharts in JavaScript.
type xMachine struct {
	ID          string                  `json:"id"`
	Description string                  `json:"description"`
	Initial     engine.State            `json:"initial,omitempty"`
	States      map[engine.State]xState `json:"states"`
}

type xState struct {
	Description string                        `json:"description,omitempty"`
	Type        string                        `json:"type,omitempty"`
	On          map[events.Kind][]xTransition `json:"on,omitempty"`
	Always      []xTransition                 `json:"always,omitempty"` // of a choice
}

// xTransition without a target leaves the state as it is. One that has only a description is
// an event that is ignored, and why.
type xTransition struct {
	Description string       `json:"description,omitempty"`
	Target      engine.State `json:"target,omitempty"`
	Guard       string       `json:"guard,omitempty"`
	Actions     []string     `json:"actions,omitempty"`
}

// XState returns a chart as JSON for XState v5: createMachine takes it, with functions for
// the names of its guards and actions. A choice is a state with transitions that are always
// taken.
func XState(d engine.Description) (string, error) {
	m := xMachine{ID: d.Name, Description: d.Doc, States: map[engine.State]xState{}}
	for i, s := range d.States {
		if i == 0 {
			m.Initial = s.Name
		}
		m.States[s.Name] = stateOf(d, s)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.String(), err
}

func stateOf(d engine.Description, s engine.StateDoc) xState {
	x := xState{Description: s.Doc, On: map[events.Kind][]xTransition{}}
	if s.Name == d.Final {
		x.Type = "final"
	}
	for _, r := range rowsFrom(d, s.Name) {
		t := xTransition{Guard: r.Guard, Actions: r.Actions}
		if r.To != engine.Stay {
			t.Target = r.To
		}
		if kind := r.On[0]; kind == engine.AtOnce {
			x.Always = append(x.Always, t)
		} else {
			x.On[kind] = append(x.On[kind], t)
		}
	}
	for _, ig := range d.Ignored {
		if ig.State == s.Name {
			x.On[ig.Kind] = append(x.On[ig.Kind], xTransition{Description: "ignored: " + ig.Why})
		}
	}
	return x
}

// rowsFrom returns the rows that leave a state, each with one kind, in the order in which
// they are tried.
func rowsFrom(d engine.Description, s engine.State) (all []engine.RowDoc) {
	for _, r := range d.ByKind() {
		for _, from := range r.From {
			if from == s {
				all = append(all, r)
			}
		}
	}
	return all
}
