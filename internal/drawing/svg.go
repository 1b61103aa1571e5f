// Package drawing shows charts: as tables, as text that GitHub, Graphviz and XState read, and as pictures of its own.
//
// PictureOf chooses the arrows that are drawn, and SVG lays them out. A chart has a path that a new reader should see
// first. It goes straight down the middle; everything else is on its left or right, and arrows go at right angles
// through the channels in between. Each end of an arrow has its own height, so no label lies on a line or on another
// label.
package drawing

import (
	"fmt"
	"html"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
)

// Formats returns the formats that Draw can write, in the order for help texts.
func Formats() []string { return []string{"markdown", "mermaid", "dot", "xstate", "svg", "table"} }

// Draw returns a chart in one of Formats.
func Draw(d engine.Description, format string) (string, error) {
	switch format {
	case "markdown":
		return Markdown(d), nil
	case "mermaid":
		return Mermaid(d), nil
	case "dot":
		return DOT(d), nil
	case "xstate":
		return XState(d)
	case "svg":
		return SVG(d)
	case "table":
		return Table(d), nil
	}
	return "", fmt.Errorf("drawing: no format %q, want one of %s", format, strings.Join(Formats(), ", "))
}

// SVG returns a picture of a chart. The same chart always gives the same bytes. A chart whose
// composites cannot be boxes is an error.
func SVG(d engine.Description) (string, error) {
	if len(d.States) == 0 {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>` + "\n", nil
	}
	s, err := layout(d)
	if err != nil {
		return "", err
	}
	return paint(d, s), nil
}

func paint(d engine.Description, s *sheet) string {
	m := size(s, 88)
	p := &pen{measure: m}
	p.head()
	p.frames()
	for _, happy := range []bool{false, true} { // the happy path lies on top
		for _, r := range m.routes {
			if r.Happy == happy {
				p.open(arrowData(r.Arrow)...)
				p.route(r)
				p.close()
			}
		}
	}
	for _, s := range d.States {
		p.open("state", string(s.Name))
		p.state(s)
		p.close()
	}
	p.foot()
	return p.String()
}

type pen struct {
	strings.Builder
	*measure
}

const style = `
  text { font-family: "Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif; fill: #1f2328; }
  .title { font-size: 24px; font-weight: bold; }
  .doc { font-size: 14px; fill: #424a53; }
  .frame { fill: #f3f6fa; stroke: #8c959f; stroke-width: 1.2; stroke-dasharray: 6 4; }
  .frame-name { font-size: 12px; font-weight: bold; fill: #57606a; }
  .state { fill: #ffffff; stroke: #57606a; stroke-width: 1.5; }
  .state.happy { fill: #d3f2dc; stroke: #1a7f37; stroke-width: 3; }
  .state.inner { fill: none; stroke-width: 1.5; }
  .name { font-size: 17px; font-weight: bold; text-anchor: middle; }
  .what { font-size: 12px; fill: #424a53; text-anchor: middle; }
  .arrow { fill: none; stroke: #6e7781; stroke-width: 1.5; }
  .arrow.happy { stroke: #1a7f37; stroke-width: 3.5; }
  .arrow.shared { stroke-dasharray: 5 4; }
  .label { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; ` +
	`font-size: 12px; paint-order: stroke; stroke: #ffffff; stroke-width: 3px; }
  .label.happy { fill: #116329; font-weight: bold; }
  .label.shared { fill: #57606a; }
  .paper { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e9ef; } .doc, .what, .frame-name, .label.shared { fill: #a9b4c0; } .paper { fill: #0d1117; }
    .frame { fill: #161b22; stroke: #6e7781; } .state { fill: #0d1117; stroke: #a9b4c0; }
    .state.happy { fill: #12331d; stroke: #3fb950; } .state.inner { fill: none; }
    .arrow { stroke: #8b949e; } .arrow.happy { stroke: #3fb950; }
    .label { stroke: #0d1117; } .label.happy { fill: #56d364; }
  }
`

func (p *pen) head() {
	fmt.Fprintf(p, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+
		"\n", p.width, p.height+40, p.width, p.height+40)
	fmt.Fprintf(p, "<title>%s</title>\n<desc>%s</desc>\n<style>%s</style>\n", html.EscapeString(p.d.Name),
		html.EscapeString(p.d.Doc), style)
	p.WriteString(`<defs>` + "\n")
	for _, a := range []struct{ name, color string }{{"plain", "#6e7781"}, {"happy", "#1a7f37"}} {
		fmt.Fprintf(p, `  <marker id="%s" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" `+
			`markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 5 0 10z" fill="%s"/></marker>`+"\n",
			a.name, a.color)
	}
	p.WriteString("</defs>\n")
	fmt.Fprintf(p, `<rect class="paper" width="100%%" height="100%%"/>`+"\n")
	p.text("title", margin, 40, p.d.Name)
	p.text("doc", margin, 63, p.d.Summary())
}

func (p *pen) text(class string, x, y int, s string) {
	fmt.Fprintf(p, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(s))
}

func (p *pen) frames() {
	for _, c := range p.d.Composites {
		b := p.frameOf(c)
		fmt.Fprintf(p, `<rect class="frame" x="%d" y="%d" width="%d" height="%d" rx="12"/>`+"\n", b.x, b.y, b.w, b.h)
		p.text("frame-name", b.x+10, b.y+18, c.Name)
	}
}

func (p *pen) state(s engine.StateDoc) {
	if p.d.Choice(s.Name) {
		p.choice(s)
		return
	}
	b := p.boxes[s.Name]
	class := "state"
	if onPath(p.d, s.Name) {
		class = "state happy"
	}
	fmt.Fprintf(p, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="10"/>`+"\n", class, b.x, b.y, b.w, b.h)
	if s.Name == p.d.Final {
		fmt.Fprintf(p, `<rect class="%s inner" x="%d" y="%d" width="%d" height="%d" rx="7"/>`+"\n", class, b.x+5,
			b.y+5, b.w-10, b.h-10)
	}
	doc := p.docs[s.Name]
	y := b.y + (b.h-nameHeight-len(doc)*docHeight)/2 + 17
	p.text("name", b.center(), y, string(s.Name))
	for i, l := range doc {
		p.text("what", b.center(), y+19+i*docHeight, l)
	}
	if s.Name == p.d.States[0].Name {
		fmt.Fprintf(p, `<circle cx="%d" cy="%d" r="6" fill="#1f2328"/>`+"\n", b.x+17, b.y+17)
	}
}

func (p *pen) foot() {
	y := p.height + 8
	fmt.Fprintf(p, `<path class="arrow happy" d="M%d %dh34" marker-end="url(#happy)"/>`+"\n", margin, y)
	p.text("doc", margin+42, y+5, "the usual way")
	fmt.Fprintf(p, `<path class="arrow" d="M%d %dh34" marker-end="url(#plain)"/>`+"\n", margin+160, y)
	p.text("doc", margin+202, y+5, "other ways")
	fmt.Fprintf(p, `<path class="arrow shared" d="M%d %dh34" marker-end="url(#plain)"/>`+"\n", margin+300, y)
	p.text("doc", margin+342, y+5, "from several states, drawn once")
	p.text("doc", margin, y+26, "Every row, and what leaves the state as it is, stands in the table below the picture.")
	p.WriteString("</svg>\n")
}
