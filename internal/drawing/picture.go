package drawing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Picture has the arrows that a drawing of a chart shows: few enough to follow with the
// eye. Nothing is lost, because the tables next to it have every row.
type Picture struct {
	Arrows []Arrow
	Shared []Arrow // arrows from many states into one state, drawn once
	Hidden []Arrow // the arrows in Shared, one for each state
	Stays  int     // number of rows that do not change the state: they are in the tables only
}

// Arrow joins all rows between the same two states. From has one state, except in
// Picture.Shared.
type Arrow struct {
	From   []engine.State
	To     engine.State
	Labels []string // RowDoc.Labels of each row, in the chart's order
	Happy  bool     // a step of the chart's happy path
}

// maxIncoming is the number of arrows into one state from which on they are drawn once.
// The happy path does not count.
const maxIncoming = 4

// common is the number of states that a row may name and still count as each one's own.
const common = 3

// PictureOf merges the rows of a chart into arrows and decides which of them are drawn: the
// happy path, arrows into a state to which few others lead, each state's main arrow, and all
// arrows from a choice.
func PictureOf(d engine.Description) Picture {
	all, stays := merged(d)
	p := Picture{Stays: stays}
	sources, drawn := map[engine.State]int{}, map[engine.State]bool{}
	for _, a := range all {
		if !a.Happy {
			sources[a.To]++
		}
	}
	for _, a := range all {
		drawn[a.From[0]] = drawn[a.From[0]] || a.Happy || sources[a.To] < maxIncoming
	}
	for _, a := range all {
		from := a.From[0]
		switch main, rows := mainWay(d, from, all); {
		case a.Happy, sources[a.To] < maxIncoming, d.Choice(from),
			a.To == main && !onPath(d, from) && (rows >= common || !drawn[from]):
			p.Arrows = append(p.Arrows, a.Arrow)
		default:
			p.Hidden = append(p.Hidden, a.Arrow)
		}
	}
	p.Shared = shared(d, p.Hidden)
	return p
}

// mergedArrow is an arrow, and the number of its kinds in rows of few states.
type mergedArrow struct {
	Arrow
	own int
}

// merged joins the rows of each (from, to), in the order of States.
func merged(d engine.Description) (all []mergedArrow, stays int) {
	type pair struct{ from, to engine.State }
	ways := map[pair]*mergedArrow{}
	for _, r := range d.Rows {
		moves := false
		for _, from := range r.From {
			if r.To == engine.Stay || from == r.To {
				continue
			}
			moves = true
			w := ways[pair{from, r.To}]
			if w == nil {
				w = &mergedArrow{Arrow: Arrow{From: []engine.State{from}, To: r.To, Happy: happy(d, from, r.To)}}
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

func happy(d engine.Description, from, to engine.State) bool {
	i := slices.Index(d.Happy, from)
	return i >= 0 && i+1 < len(d.Happy) && d.Happy[i+1] == to
}

// mainWay returns the state to which most of a state's own rows lead, and their number.
// If these are few, it returns the state to which a long list of guards leads when none
// of them holds.
func mainWay(d engine.Description, s engine.State, all []mergedArrow) (to engine.State, rows int) {
	for _, w := range all {
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
			if r.Guard == "" && r.To != engine.Stay && r.To != s && guards[kind] > common {
				to = r.To
			}
		}
	}
	return to, rows
}

// shared joins the arrows that are not drawn, by the state to which they lead.
func shared(d engine.Description, hidden []Arrow) []Arrow {
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

// Brief returns an arrow's labels in at most that number of lines: one for each kind,
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

// States returns a text that says from how many states a shared arrow comes.
func (a Arrow) States() string {
	if len(a.From) == 1 {
		return "from " + string(a.From[0])
	}
	return fmt.Sprintf("from %d states", len(a.From))
}

// onPath reports whether a state is a step of the happy path.
func onPath(d engine.Description, s engine.State) bool { return slices.Contains(d.Happy, s) }

// enclosed reports whether a state is in a composite.
func enclosed(d engine.Description, s engine.State) bool {
	return slices.ContainsFunc(d.Composites, func(c engine.Composite) bool { return slices.Contains(c.States, s) })
}
