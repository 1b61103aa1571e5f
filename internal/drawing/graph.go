package drawing

import (
	"fmt"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
)

// Mermaid returns a chart as a stateDiagram-v2, which GitHub draws in a fenced
// block. The happy path is coloured.
func Mermaid(d engine.Description) string {
	var b strings.Builder
	p := PictureOf(d)
	b.WriteString("stateDiagram-v2\n")
	for i, c := range d.Composites {
		fmt.Fprintf(&b, "    state %q as composite%d {\n", c.Name, i+1)
		for _, s := range c.States {
			fmt.Fprintf(&b, "        %s\n", mermaidState(d, s))
		}
		b.WriteString("    }\n")
	}
	for _, s := range d.States {
		if !enclosed(d, s.Name) {
			fmt.Fprintf(&b, "    %s\n", mermaidState(d, s.Name))
		}
	}
	if len(d.States) > 0 {
		fmt.Fprintf(&b, "    [*] --> %s\n", d.States[0].Name)
	}
	for _, a := range p.Arrows {
		fmt.Fprintf(&b, "    %s --> %s : %s\n", a.From[0], a.To, strings.Join(a.Brief(3), "<br/>"))
	}
	if d.Final != "" {
		fmt.Fprintf(&b, "    %s --> [*]\n", d.Final)
	}
	for _, a := range p.Shared {
		fmt.Fprintf(&b, "    note right of %s\n        %s\n", a.To, a.States())
		for _, l := range a.Brief(3) {
			fmt.Fprintf(&b, "        %s\n", l)
		}
		b.WriteString("    end note\n")
	}
	if len(d.Happy) > 0 {
		b.WriteString("    classDef happy fill:#d3f2dc,stroke:#1a7f37,stroke-width:3px,color:#0b3d1b\n")
		fmt.Fprintf(&b, "    class %s happy\n", joined(d.Happy, ", "))
	}
	return b.String()
}

func mermaidState(d engine.Description, s engine.State) string {
	if d.Choice(s) {
		return fmt.Sprintf("state %s <<choice>>", s)
	}
	return string(s)
}

// DOT returns a chart for Graphviz.
func DOT(d engine.Description) string {
	var b strings.Builder
	p := PictureOf(d)
	fmt.Fprintf(&b, "digraph %q {\n", d.Name)
	b.WriteString("  graph [bgcolor=white, fontname=\"Helvetica\", nodesep=0.5, ranksep=0.6];\n" +
		"  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", color=\"#57606a\", " +
		"fontname=\"Helvetica\"];\n  edge [color=\"#57606a\", fontcolor=\"#24292f\", fontname=\"Helvetica\", " +
		"fontsize=10];\n")
	for _, s := range d.States {
		extra := ""
		if onPath(d, s.Name) {
			extra = ", fillcolor=\"#d3f2dc\", color=\"#1a7f37\", penwidth=2.5, group=happy"
		}
		if s.Name == d.Final {
			extra += ", peripheries=2"
		}
		if d.Choice(s.Name) {
			extra += ", shape=diamond, style=filled"
		}
		fmt.Fprintf(&b, "  %q [tooltip=%q%s];\n", s.Name, s.Doc, extra)
	}
	for i, c := range d.Composites {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%q; color=\"#8c959f\"; style=rounded;\n    ", i+1, c.Name)
		for _, s := range c.States {
			fmt.Fprintf(&b, "%q; ", s)
		}
		b.WriteString("\n  }\n")
	}
	for _, a := range p.Arrows {
		extra := ""
		if a.Happy {
			extra = ", color=\"#1a7f37\", penwidth=2.5, weight=20"
		}
		fmt.Fprintf(&b, "  %q -> %q [label=%s%s];\n", a.From[0], a.To, lines(a.Brief(3)), extra)
	}
	for i, a := range p.Shared {
		fmt.Fprintf(&b, "  shared_%d [shape=plaintext, style=\"\", fontsize=10, label=%s];\n", i+1,
			lines(append([]string{a.States() + ":"}, a.Brief(3)...)))
		fmt.Fprintf(&b, "  shared_%d -> %q [style=dashed];\n", i+1, a.To)
	}
	b.WriteString("}\n")
	return b.String()
}

func lines(l []string) string {
	for i, s := range l {
		l[i] = strings.ReplaceAll(s, `"`, `\"`)
	}
	return `"` + strings.Join(l, `\n`) + `"`
}

func joined[S ~string](all []S, sep string) string {
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = string(s)
	}
	return strings.Join(names, sep)
}
