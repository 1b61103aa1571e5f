package drawing

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// tableWidth is how many columns of a terminal a table fills at most.
const tableWidth = 120

// HowToRead says how StateByState is read.
const HowToRead = "In each state, the rows of an event are tried from the top, and the first whose guard " +
	"holds is taken. " +
	"# is a row's place in the chart. An answer or a timer that a state does not list is late: nobody " +
	"awaits it any more."

// Table returns a chart's whole table as aligned text, state by state: the rows of
// each kind of event in the order in which they are tried, with their numbers in the
// chart, and what is ignored, with the reason.
func Table(d engine.Description) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d states, %d rows\n\n%s\n\n", d.Name, len(d.States), len(d.Rows), d.Doc)
	fill(&b, "", "", HowToRead)
	b.WriteString("\n" + StateByState(d))
	return b.String()
}

// StateByState returns the table without the words before it.
func StateByState(d engine.Description) string {
	var b strings.Builder
	grid := widths(d)
	grid.write(&b, heading)
	for i, s := range d.States {
		fmt.Fprintf(&b, "\n%s%s\n", s.Name, enclosing(d, s.Name))
		fill(&b, "  ", "  ", strings.TrimSpace(withEnds(d, i)))
		for _, l := range rowsOf(d, s.Name) {
			grid.write(&b, l)
		}
		ignored(&b, d, s.Name)
	}
	return b.String()
}

// withEnds returns what is true in the i-th state, and whether a machine begins or ends there.
func withEnds(d engine.Description, i int) string {
	doc := d.States[i].Doc
	switch {
	case i == 0:
		doc += " Where a machine begins."
	case d.States[i].Name == d.Final:
		doc += " Where a machine ends."
	}
	return doc
}

// line is one row in one state.
type line [5]string

var heading = line{"event", "#", "guard", "to", "action"}

// rowsOf returns the rows of a state: kinds in the chart's order, the rows of each as
// they are tried.
func rowsOf(d engine.Description, s engine.State) (all []line) {
	kinds := d.Kinds
	for _, r := range d.Rows { // what is no event, such as the moment of entering a choice
		for _, k := range on(r) {
			if !slices.Contains(kinds, k) {
				kinds = append(slices.Clone(kinds), k)
			}
		}
	}
	for _, k := range kinds {
		first := len(all)
		for i, r := range d.Rows {
			if !slices.Contains(r.From, s) || !slices.Contains(on(r), k) {
				continue
			}
			to, guard := string(r.To), r.Guard
			if r.To == engine.Stay || r.To == s {
				to = "stays"
			}
			if guard == "" && len(all) > first {
				guard = "else"
			}
			all = append(all, line{"", strconv.Itoa(i + 1), guard, to, r.Action()})
		}
		if len(all) > first {
			all[first][0] = string(k)
		}
	}
	return all
}

// on returns the kinds of a row.
func on(r engine.RowDoc) []events.Kind { return r.On }

// enclosing returns the names of the composites around a state.
func enclosing(d engine.Description, s engine.State) (names string) {
	for _, c := range d.Composites {
		if slices.Contains(c.States, s) {
			names += " (" + c.Name + ")"
		}
	}
	return names
}

// ignored writes what a state ignores, joined by the reason.
func ignored(b *strings.Builder, d engine.Description, s engine.State) {
	var reasons []string
	kinds := map[string][]string{}
	for _, ig := range d.Ignored {
		if ig.State != s {
			continue
		}
		if kinds[ig.Why] == nil {
			reasons = append(reasons, ig.Why)
		}
		kinds[ig.Why] = append(kinds[ig.Why], string(ig.Kind))
	}
	for _, why := range reasons {
		fill(b, "  ", "    ", "ignored: "+strings.Join(kinds[why], ", ")+" – "+why)
	}
}

// grid has the width of each column except the last, the same in all states.
type grid [4]int

func widths(d engine.Description) (g grid) {
	for i := range g {
		g[i] = len(heading[i])
	}
	for _, s := range d.States {
		for _, l := range rowsOf(d, s.Name) {
			for i := range g {
				g[i] = max(g[i], utf8.RuneCountInString(l[i]))
			}
		}
	}
	return g
}

// write writes a row; actions that do not fit go on below each other.
func (g grid) write(b *strings.Builder, l line) {
	head := fmt.Sprintf("  %-*s  %*s  %-*s  %-*s  ", g[0], l[0], g[1], l[1], g[2], l[2], g[3], l[3])
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	if l[4] == "" {
		b.WriteString(strings.TrimRight(head, " ") + "\n")
		return
	}
	fill(b, head, indent, l[4])
}

// fill writes a text in lines of at most tableWidth: the first begins with one
// indent, the others with another.
func fill(b *strings.Builder, first, others, text string) {
	room := tableWidth - max(utf8.RuneCountInString(first), utf8.RuneCountInString(others))
	for i, l := range wrap(text, room, "") {
		if i > 0 {
			first = others
		}
		b.WriteString(first + l + "\n")
	}
}
