package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/events"
)

// Formats lists what Draw can write, in the order in which help texts should
// name them. Pictures as SVG live with the program that shows them.
func Formats() []string { return []string{"markdown", "mermaid", "dot"} }

// Draw writes a description in one of Formats.
func Draw(d Description, format string) (string, error) {
	switch format {
	case "markdown":
		return d.Markdown(), nil
	case "mermaid":
		return d.Mermaid(), nil
	case "dot":
		return d.DOT(), nil
	}
	return "", fmt.Errorf("engine: no format %q, want one of %s", format, strings.Join(Formats(), ", "))
}

// Picture is what a drawing of a chart shows: few enough arrows to follow with
// the eye. Nothing is lost, because the tables beside it hold every row.
type Picture struct {
	Arrows []Arrow
	Shared []Arrow // arrows into one state that many states share, drawn once
	Hidden []Arrow // what of Shared is not drawn as an arrow of its own, one by one
	Stays  int     // rows that do not change the state: in the tables only
}

// Arrow is every row between the same two states, as one line. From has one
// state, except in Picture.Shared.
type Arrow struct {
	From   []State
	To     State
	Labels []string // RowDoc.Labels of each row, in the chart's order
	Happy  bool     // a step of the chart's happy path
}

// maxIncoming is how many states off the happy path may lead to one state before their
// arrows are drawn once.
const maxIncoming = 4

// common is how many states a row may name and still be one of each state's own.
const common = 3

// Picture merges rows into arrows and decides which of them are drawn: the
// happy path, arrows into states that few others lead to, each state's main ways
// on, and all that a choice leads to.
func (d Description) Picture() Picture {
	merged, stays := d.merged()
	p := Picture{Stays: stays}
	sources, drawn := map[State]int{}, map[State]bool{}
	for _, a := range merged {
		if !a.Happy {
			sources[a.To]++
		}
	}
	for _, a := range merged {
		drawn[a.From[0]] = drawn[a.From[0]] || a.Happy || sources[a.To] < maxIncoming
	}
	for _, a := range merged {
		from := a.From[0]
		switch main, rows := d.mainWay(from, merged); {
		case a.Happy, sources[a.To] < maxIncoming, d.Choice(from),
			a.To == main && !d.onPath(from) && (rows >= common || !drawn[from]):
			p.Arrows = append(p.Arrows, a.Arrow)
		default:
			p.Hidden = append(p.Hidden, a.Arrow)
		}
	}
	p.Shared = d.shared(p.Hidden)
	return p
}

// mergedArrow is an arrow and how many of its rows belong to few states.
type mergedArrow struct {
	Arrow
	own int
}

// merged joins the rows of each (from, to), in the order of States.
func (d Description) merged() (all []mergedArrow, stays int) {
	type pair struct{ from, to State }
	ways := map[pair]*mergedArrow{}
	for _, r := range d.Rows {
		moves := false
		for _, from := range r.From {
			if r.To == Stay || from == r.To {
				continue
			}
			moves = true
			w := ways[pair{from, r.To}]
			if w == nil {
				w = &mergedArrow{Arrow: Arrow{From: []State{from}, To: r.To, Happy: d.happy(from, r.To)}}
				ways[pair{from, r.To}] = w
			}
			w.Labels = append(w.Labels, r.Labels()...)
			if len(r.From) <= common {
				w.own += len(r.On)
			}
		}
		if !moves {
			stays++
		}
	}
	for _, from := range d.States {
		for _, to := range d.States {
			if w := ways[pair{from.Name, to.Name}]; w != nil {
				if w.Happy { // what a user does says more than what may happen
					slices.SortStableFunc(w.Labels, func(a, b string) int { return asked(b) - asked(a) })
				}
				all = append(all, *w)
			}
		}
	}
	return all, stays
}

func asked(label string) int {
	if strings.HasPrefix(label, "command.") || strings.HasPrefix(label, "work.") {
		return 1
	}
	return 0
}

func (d Description) happy(from, to State) bool {
	i := slices.Index(d.Happy, from)
	return i >= 0 && i+1 < len(d.Happy) && d.Happy[i+1] == to
}

// mainWay is where most of a state's own rows lead, and how many they are. Where
// that is little it is where a long list of guards ends when none of them holds.
func (d Description) mainWay(s State, merged []mergedArrow) (to State, rows int) {
	for _, w := range merged {
		if w.From[0] == s && w.own > rows {
			to, rows = w.To, w.own
		}
	}
	if rows >= common {
		return to, rows
	}
	guards := map[events.Kind]int{}
	for _, r := range d.Rows {
		if len(r.From) > common || !slices.Contains(r.From, s) {
			continue
		}
		for _, kind := range r.On {
			guards[kind]++
			if r.Guard == "" && r.To != Stay && r.To != s && guards[kind] > common {
				to = r.To
			}
		}
	}
	return to, rows
}

// shared joins what is not drawn by the state that it leads to.
func (d Description) shared(hidden []Arrow) []Arrow {
	var all []Arrow
	for _, to := range d.States {
		one := Arrow{To: to.Name}
		for _, a := range hidden {
			if a.To == to.Name {
				one.From = append(one.From, a.From[0])
			}
		}
		if len(one.From) == 0 {
			continue
		}
		// The label that most of the states have in common comes first.
		count := map[string]int{}
		for _, a := range hidden {
			if a.To != to.Name {
				continue
			}
			for _, l := range a.Labels {
				if count[l]++; count[l] == 1 {
					one.Labels = append(one.Labels, l)
				}
			}
		}
		slices.SortStableFunc(one.Labels, func(a, b string) int { return count[b] - count[a] })
		all = append(all, one)
	}
	return all
}

// Brief shortens an arrow's labels to at most so many lines: one for each kind,
// with its guards.
func (a Arrow) Brief(lines int) []string {
	var folded []string
	rows := map[string]int{}
	for _, l := range a.Labels {
		kind, guard, _ := strings.Cut(strings.TrimSuffix(l, "]"), " [")
		i := slices.IndexFunc(folded, func(f string) bool { return f == kind || strings.HasPrefix(f, kind+" [") })
		rows[kind]++
		switch {
		case i < 0:
			folded = append(folded, l)
		case guard == "": // the else row makes the guards before it moot
			folded[i] = kind
		case rows[kind] == common+1:
			folded[i] = strings.TrimSuffix(folded[i], "]") + ", …]"
		case rows[kind] <= common && folded[i] != kind:
			folded[i] = strings.TrimSuffix(folded[i], "]") + ", " + guard + "]"
		}
	}
	if len(folded) > lines {
		more := fmt.Sprintf("… %d more", len(folded)-lines+1)
		folded = append(folded[:lines-1:lines-1], more)
	}
	return folded
}

// States says from how many states a shared arrow comes.
func (a Arrow) States() string {
	if len(a.From) == 1 {
		return "from " + string(a.From[0])
	}
	return fmt.Sprintf("from %d states", len(a.From))
}

// onPath reports whether a state is a step of the happy path.
func (d Description) onPath(s State) bool { return slices.Contains(d.Happy, s) }

// enclosed reports whether some composite holds a state.
func (d Description) enclosed(s State) bool {
	return slices.ContainsFunc(d.Composites, func(c Composite) bool { return slices.Contains(c.States, s) })
}
