package drawing

import (
	"fmt"
	"html"
	"strings"
)

// A page that shows a running machine has to find its state and its last row in the picture. So what belongs to a
// state is in a group with the attribute data-state, and what belongs to an arrow in one with three: data-from has the
// states that it leaves, data-to the one that it leads to, and data-rows the rows that it stands for.

// RowSeparator is between the rows in data-rows: names of rows have spaces. States are separated by a space.
const RowSeparator = "|"

// arrowData returns the names and values of an arrow's attributes.
func arrowData(a Arrow) []string {
	return []string{"from", joined(a.From, " "), "to", string(a.To), "rows", strings.Join(a.Labels, RowSeparator)}
}

// open begins a group with these attributes: names and values in turns.
func (p *pen) open(data ...string) {
	p.WriteString("<g")
	for i := 0; i < len(data); i += 2 {
		fmt.Fprintf(p, ` data-%s="%s"`, data[i], html.EscapeString(data[i+1]))
	}
	p.WriteString(">\n")
}

func (p *pen) close() { p.WriteString("</g>\n") }
