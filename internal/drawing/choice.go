package drawing

import (
	"fmt"
	"html"

	"github.com/incumbent-go/incumbent/engine"
)

// choice draws a choice: a diamond with its name. Its guards are the labels of the
// arrows that leave it.
func (p *pen) choice(s engine.StateDoc) {
	b := p.boxes[s.Name]
	class := "state"
	if onPath(p.d, s.Name) {
		class += " happy"
	}
	middle := b.y + b.h/2
	fmt.Fprintf(p, `<path class="%s" d="M%d %dL%d %dL%d %dL%d %dZ"><title>%s</title></path>`+"\n",
		class, b.center(), b.y, b.right(), middle, b.center(), b.bottom(), b.x, middle, html.EscapeString(s.Doc))
	p.text("name", b.center(), middle+6, string(s.Name))
}

// touching extends an arrow from the sides of its choices' boxes to the diamonds
// in them.
func (p *pen) touching(r *route, corners []point) []point {
	last := len(corners) - 1
	if !r.shared && p.d.Choice(r.From[0]) {
		corners[0] = p.boxes[r.From[0]].onDiamond(corners[0])
	}
	if p.d.Choice(r.To) {
		corners[last] = p.boxes[r.To].onDiamond(corners[last])
	}
	return corners
}

// onDiamond returns the point of the diamond in a box that is at the height of a point
// on one of the box's sides.
func (b box) onDiamond(at point) point {
	inset := b.w * max(2*(at.y-b.y)-b.h, b.h-2*(at.y-b.y)) / (2 * b.h)
	if at.x == b.x {
		return point{b.x + inset, at.y}
	}
	return point{b.right() - inset, at.y}
}
