package drawing

import (
	"slices"

	"github.com/incumbent-go/incumbent/engine"
)

// slot is a horizontal line between a state's side and the middle of a channel,
// at a height of its own: that is why no label can lie on another.
type slot struct {
	row, channel int
	arrow        int      // index in sheet.routes
	near, far    bool     // it touches the spine; it touches the lane
	label        []string // above the line, next to the state that it leaves
	y            int
}

// route is the way of an arrow through one channel, or two if it has to cross the spine.
type route struct {
	Arrow
	shared   bool
	straight bool // down the spine to the next row
	out, in  *slot
	cross    int // the gap above this row is where it crosses; -1 for no
	tracks   [2]int
}

// sheet is the layout of a picture.
type sheet struct {
	d        engine.Description
	at       map[engine.State]spot
	rows     int
	routes   []*route
	slots    [2][][]*slot // by channel and row
	tracks   [2]int       // how many
	crossing []int        // by gap: how many arrows cross the spine in it
}

func layout(d engine.Description) (*sheet, error) {
	p := PictureOf(d)
	s := &sheet{d: d}
	var err error
	if s.at, s.rows, err = place(d, p); err != nil {
		return nil, err
	}
	s.crossing = make([]int, s.rows+1)
	for c := range s.slots {
		s.slots[c] = make([][]*slot, s.rows)
	}
	for _, a := range p.Arrows {
		s.add(&route{Arrow: a, cross: -1})
	}
	for _, a := range p.Shared {
		s.add(&route{Arrow: a, cross: -1, shared: true})
	}
	s.order()
	for c := range s.tracks {
		s.assign(c)
	}
	return s, nil
}

func (s *sheet) add(r *route) {
	n := len(s.routes)
	s.routes = append(s.routes, r)
	to := s.at[r.To]
	if r.shared {
		r.in = s.slot(n, to, s.side(to, to), r.text())
		return
	}
	from := s.at[r.From[0]]
	channel := s.side(from, to)
	switch {
	case from.column == spine && to.column == spine && to.row == from.row+1:
		r.straight = true
	case from.column != spine && to.column != spine && from.column != to.column:
		r.out, r.in = s.slot(n, from, from.column, r.text()), s.slot(n, to, to.column, nil)
		r.cross = max(from.row, to.row)
		s.crossing[r.cross]++
	case from.row == to.row:
		r.out = s.slot(n, from, channel, r.text())
		r.out.near, r.out.far = true, true
		r.in = r.out
	default:
		r.out, r.in = s.slot(n, from, channel, r.text()), s.slot(n, to, channel, nil)
	}
}

// side returns the channel of an arrow: the lane's own or, for two states on the spine,
// the one with more room in their rows.
func (s *sheet) side(from, to spot) int {
	switch {
	case from.column != spine:
		return from.column
	case to.column != spine:
		return to.column
	case s.fill(left, from.row)+s.fill(left, to.row) < s.fill(right, from.row)+s.fill(right, to.row):
		return left
	}
	return right
}

func (s *sheet) fill(channel, row int) int {
	sum := 0
	for _, x := range s.slots[channel][row] {
		sum += x.height()
	}
	return sum
}

func (s *sheet) slot(arrow int, at spot, channel int, label []string) *slot {
	x := &slot{row: at.row, channel: channel, arrow: arrow, near: at.column == spine,
		far: at.column != spine, label: label}
	s.slots[channel][at.row] = append(s.slots[channel][at.row], x)
	return x
}

func (x *slot) height() int { return slotGap + len(x.label)*lineHeight }

// other returns the row at the other end of a slot's arrow.
func (s *sheet) other(x *slot) int {
	r := s.routes[x.arrow]
	switch {
	case r.shared:
		return x.row
	case r.out == x:
		return s.at[r.To].row
	}
	return s.at[r.From[0]].row
}

// order stacks the slots of each row: arrows that go up are above those that go down.
// Then it swaps neighbours while that saves crossings.
func (s *sheet) order() {
	for c := range s.slots {
		for _, stack := range s.slots[c] {
			slices.SortStableFunc(stack, func(a, b *slot) int { return s.other(a) - s.other(b) })
		}
	}
}

// extent returns the part of a channel's track that an arrow needs, in steps of slots;
// ok is false for an arrow without one.
func (s *sheet) extent(r *route, c int) (from, to int, ok bool) {
	switch {
	case r.straight, r.shared, r.out == r.in:
		return 0, 0, false
	case r.cross >= 0 && r.out.channel == c:
		from, to = s.step(r.out), s.rowStep(c, r.cross)
	case r.cross >= 0:
		from, to = s.rowStep(c, r.cross), s.step(r.in)
	case r.out.channel != c:
		return 0, 0, false
	default:
		from, to = s.step(r.out), s.step(r.in)
	}
	return from, to, true
}

func (s *sheet) step(x *slot) int {
	return s.rowStep(x.channel, x.row) + 1 + slices.Index(s.slots[x.channel][x.row], x)
}

func (s *sheet) rowStep(c, row int) int {
	n := 0
	for _, stack := range s.slots[c][:row] {
		n += len(stack) + 1
	}
	return n
}

// assign gives every arrow of a channel a track, and moves tracks and slots
// while that saves crossings or width.
func (s *sheet) assign(c int) {
	var mine []*route
	for _, r := range s.routes {
		if _, _, ok := s.extent(r, c); ok {
			r.tracks[c] = len(mine)
			mine = append(mine, r)
		}
	}
	best := s.score(mine, c)
	for improved := true; improved; {
		improved = false
		for _, r := range mine {
			for t := range mine {
				was := r.tracks[c]
				r.tracks[c] = t
				if now := s.score(mine, c); now < best {
					best, improved = now, true
				} else {
					r.tracks[c] = was
				}
			}
		}
		for _, stack := range s.slots[c] {
			for i := 1; i < len(stack); i++ {
				stack[i-1], stack[i] = stack[i], stack[i-1]
				if now := s.score(mine, c); now < best {
					best, improved = now, true
				} else {
					stack[i-1], stack[i] = stack[i], stack[i-1]
				}
			}
		}
	}
	for _, r := range mine {
		s.tracks[c] = max(s.tracks[c], r.tracks[c]+1)
	}
}

// score returns the cost of a channel's picture: first lines on top of each other, then
// crossings, then the tracks' distances from the spine.
func (s *sheet) score(mine []*route, c int) int {
	sum := 0
	for i, r := range mine {
		a, b, _ := s.extent(r, c)
		sum += r.tracks[c]
		for _, other := range mine[:i] {
			x, y, _ := s.extent(other, c)
			if r.tracks[c] == other.tracks[c] && min(a, b) <= max(x, y) && min(x, y) <= max(a, b) {
				sum += 100000
			}
		}
		for _, other := range mine {
			if other != r {
				sum += 20 * s.crossings(r, other, c)
			}
		}
	}
	for _, x := range s.routes {
		if x.out == nil || x.out != x.in || x.out.channel != c {
			continue
		}
		for _, r := range mine {
			if a, b, _ := s.extent(r, c); between(s.step(x.out), a, b) {
				sum += 20 // a straight arrow is crossed
			}
		}
	}
	return sum
}

// crossings counts where the horizontal lines of one arrow cross the track of
// another.
func (s *sheet) crossings(r, other *route, c int) int {
	a, b, _ := s.extent(other, c)
	n := 0
	for _, end := range []*slot{r.out, r.in} {
		if end.channel != c || !between(s.step(end), a, b) {
			continue
		}
		if end.near && other.tracks[c] < r.tracks[c] || end.far && other.tracks[c] > r.tracks[c] {
			n++
		}
	}
	return n
}

func between(x, a, b int) bool { return min(a, b) < x && x < max(a, b) }
