package drawing

import (
	"fmt"
	"html"
	"slices"

	"github.com/incumbent-go/incumbent/engine"
)

// choice draws a state in which no machine rests: a diamond with its name. What
// it decides is written on the arrows that leave it.
func (p *pen) choice(s engine.StateDoc) {
	b := p.boxes[s.Name]
	class := "state"
	if slices.Contains(p.d.Happy, s.Name) {
		class += " happy"
	}
	middle := b.y + b.h/2
	fmt.Fprintf(p, `<path class="%s" d="M%d %dL%d %dL%d %dL%d %dZ"><title>%s</title></path>`+"\n",
		class, b.center(), b.y, b.right(), middle, b.center(), b.bottom(), b.x, middle, html.EscapeString(s.Doc))
	p.text("name", b.center(), middle+6, string(s.Name))
}

// touching leads an arrow on from the sides of its choices' boxes to the diamonds
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

// onDiamond moves a point on one of a box's sides to the diamond in the box, at
// the same height.
func (b box) onDiamond(at point) point {
	inset := b.w * max(2*(at.y-b.y)-b.h, b.h-2*(at.y-b.y)) / (2 * b.h)
	if at.x == b.x {
		return point{b.x + inset, at.y}
	}
	return point{b.right() - inset, at.y}
}
