package drawing

import (
	"fmt"
	"html"
	"strings"
)

type point struct{ x, y int }

// route draws one arrow and its label.
func (p *pen) route(r *route) {
	if r.straight {
		p.down(r)
		return
	}
	class := "label"
	if r.shared {
		p.stub(r)
		return
	}
	if r.Happy {
		class += " happy"
	}
	p.line(r, p.touching(r, p.path(r)))
	p.label(r.out, class)
}

// down draws an arrow down the spine to the next row, a step of the happy path mostly.
func (p *pen) down(r *route) {
	from, to := p.boxes[r.From[0]], p.boxes[r.To]
	p.line(r, []point{{from.center(), from.bottom()}, {to.center(), to.y}})
	label := r.text()
	class := "label"
	if r.Happy {
		class += " happy"
	}
	begins, ends := from.bottom(), to.y
	for _, c := range p.d.Composites {
		// Between two frames, not across their edges.
		b := boundsOf(p.at, c.States)
		if b.columns[spine] && b.first == p.at[r.To].row {
			ends = p.frameOf(c).y
		}
		if b.columns[spine] && b.last == p.at[r.From[0]].row {
			begins = p.frameOf(c).bottom()
		}
	}
	top := (begins + ends - len(label)*lineHeight) / 2
	for i, l := range label {
		p.text(class, from.center()+9, top+i*lineHeight+11, l)
	}
}

// stub draws an arrow out of many states: a dot, a line, and the label above it.
func (p *pen) stub(r *route) {
	x := p.edge(r.in)
	away := 1
	if p.inward(r.in) {
		away = -1
	}
	start := point{x + away*(labelGap+textWidth(r.in.label)), r.in.y}
	fmt.Fprintf(p, `<circle cx="%d" cy="%d" r="3.5" fill="#6e7781"/>`+"\n", start.x, start.y)
	p.line(r, p.touching(r, []point{start, {x, r.in.y}}))
	p.label(r.in, "label shared")
}

// edge returns the x at which a slot's line touches its state: the spine's side first.
func (p *pen) edge(x *slot) int {
	switch {
	case p.leavesSpine(x) && x.near && x.channel == right:
		return p.column[spine] + boxWidth
	case p.leavesSpine(x) && x.near:
		return p.column[spine]
	case x.far && x.channel == right:
		return p.column[right]
	case x.far:
		return p.column[left] + boxWidth
	case x.channel == right:
		return p.column[spine] + boxWidth
	}
	return p.column[spine]
}

// inward reports whether a slot's line goes to the left of its state.
func (p *pen) inward(x *slot) bool {
	onSpine := x.near && (p.leavesSpine(x) || !x.far)
	return onSpine == (x.channel == left)
}

func (p *pen) label(x *slot, class string) {
	at, anchor := p.edge(x)+labelGap, "start"
	if p.inward(x) {
		at, anchor = p.edge(x)-labelGap, "end"
	}
	for i, l := range x.label {
		y := x.y - 5 - (len(x.label)-1-i)*lineHeight
		if anchor == "end" {
			l = strings.TrimLeft(l, " ")
		}
		fmt.Fprintf(p, `<text class="%s" x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", class, at, y, anchor,
			html.EscapeString(l))
	}
}

// path returns the corners of an arrow.
func (p *pen) path(r *route) []point {
	out, in := r.out, r.in
	start := point{p.edge(out), out.y}
	if out == in {
		other := p.column[spine] + boxWidth
		switch {
		case p.leavesSpine(out) && out.channel == right:
			other = p.column[right]
		case p.leavesSpine(out):
			other = p.column[left] + boxWidth
		case out.channel == left:
			other = p.column[spine]
		}
		return []point{start, {other, out.y}}
	}
	end := point{p.edge(in), in.y}
	x := p.trackX(out.channel, r.tracks[out.channel])
	if r.cross < 0 {
		return []point{start, {x, out.y}, {x, in.y}, end}
	}
	y := p.crossY(r)
	x2 := p.trackX(in.channel, r.tracks[in.channel])
	return []point{start, {x, out.y}, {x, y}, {x2, y}, {x2, in.y}, end}
}

// crossY returns the height at which an arrow crosses the spine.
func (p *pen) crossY(r *route) int {
	n := 0
	for _, other := range p.routes {
		if other == r {
			break
		}
		if other.cross == r.cross {
			n++
		}
	}
	return p.rowTop[r.cross] - 12 - n*trackGap
}

// line draws corners as a line with round bends, and its head.
func (p *pen) line(r *route, corners []point) {
	class, head := "arrow", "plain"
	switch {
	case r.Happy:
		class, head = "arrow happy", "happy"
	case r.shared:
		class = "arrow shared"
	}
	var d strings.Builder
	fmt.Fprintf(&d, "M%d %d", corners[0].x, corners[0].y)
	for i := 1; i < len(corners)-1; i++ {
		before, at, after := corners[i-1], corners[i], corners[i+1]
		in, out := toward(at, before), toward(at, after)
		fmt.Fprintf(&d, "L%d %dQ%d %d %d %d", in.x, in.y, at.x, at.y, out.x, out.y)
	}
	last := corners[len(corners)-1]
	fmt.Fprintf(&d, "L%d %d", last.x, last.y)
	fmt.Fprintf(p, `<path class="%s" d="%s" marker-end="url(#%s)"/>`+"\n", class, d.String(), head)
}

// toward returns a point up to a bend's radius from one corner towards another.
func toward(from, to point) point {
	step := func(a, b int) int { return a + max(-7, min(7, (b-a)/2)) }
	return point{step(from.x, to.x), step(from.y, to.y)}
}
