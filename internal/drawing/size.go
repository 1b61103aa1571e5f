package drawing

import (
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
)

// Sizes in pixels. All are whole numbers, so that every computer draws the same picture.
const (
	boxWidth   = 182
	nameHeight = 24
	docHeight  = 15
	docWidth   = 27 // letters
	lineHeight = 15
	labelWidth = 22 // letters
	slotGap    = 15
	trackGap   = 13
	margin     = 26
	labelGap   = frame + 5 // between a state and the labels next to it
	rowGap     = 30
	frame      = 14 // between a composite's box and what is in it
	frameHead  = 20
)

// text returns an arrow's label, in a few lines that fit next to its state.
func (r *route) text() []string {
	all := r.lines(3)
	if len(all) > 4 {
		all = r.lines(2)
	}
	return all
}

func (r *route) lines(most int) []string {
	var all []string
	if r.shared {
		all = append(all, r.States()+":")
	}
	for _, l := range r.Brief(most) {
		kind, guards, guarded := strings.Cut(l, " [")
		switch {
		case len(l) <= labelWidth, !guarded:
			all = append(all, l)
		default:
			all = append(append(all, kind), wrap("["+guards, labelWidth-2, "  ")...)
		}
	}
	return all
}

// wrap breaks a text into lines of at most width letters.
func wrap(text string, width int, indent string) []string {
	var all []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			all = append(all, indent+line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		all = append(all, indent+line)
	}
	return all
}

// textWidth returns the width of the longest line, in the widest fixed font.
func textWidth(label []string) int {
	w := 0
	for _, l := range label {
		w = max(w, (len([]rune(l))*37+4)/5)
	}
	return w
}

// box is a rectangle.
type box struct{ x, y, w, h int }

func (b box) center() int { return b.x + b.w/2 }
func (b box) bottom() int { return b.y + b.h }
func (b box) right() int  { return b.x + b.w }

// measure turns rows, channels and tracks into pixels.
type measure struct {
	*sheet
	top     int
	rowTop  []int
	rowBase []int // the lower edge of each row
	column  [3]int
	track0  [2]int // the track that is nearest to the spine
	boxes   map[engine.State]box
	docs    map[engine.State][]string
	width   int
	height  int
}

func size(s *sheet, top int) *measure {
	m := &measure{sheet: s, top: top, boxes: map[engine.State]box{}, docs: map[engine.State][]string{}}
	for _, st := range s.d.States {
		if !s.d.Choice(st.Name) { // there is no room in a diamond
			m.docs[st.Name] = wrap(st.Doc, docWidth, "")
		}
	}
	m.columns()
	m.heights()
	m.states()
	return m
}

// columns gives each lane and channel its width.
func (m *measure) columns() {
	var zone, widths [2]int
	laned := m.laned()
	for c := range m.slots {
		var near, far int
		for _, stack := range m.slots[c] {
			for _, x := range stack {
				w := labelGap + textWidth(x.label)
				if m.leavesSpine(x) {
					near = max(near, w)
				} else {
					far = max(far, w)
				}
			}
		}
		zone[c] = near + 12
		widths[c] = zone[c] + max(0, m.tracks[c]-1)*trackGap
		if laned[c] {
			widths[c] += far + 12
		}
	}
	x := margin
	if laned[left] {
		m.column[left] = x
		x += boxWidth
	}
	x += widths[left]
	m.column[spine] = x
	m.track0[left], m.track0[right] = x-zone[left], x+boxWidth+zone[right]
	x += boxWidth + widths[right]
	if laned[right] {
		m.column[right] = x
		x += boxWidth
	}
	m.width = x + margin
}

// leavesSpine reports whether a slot's label is on the spine's side of the tracks.
func (m *measure) leavesSpine(x *slot) bool {
	r := m.routes[x.arrow]
	if r.shared {
		return x.near
	}
	return m.at[r.From[0]].column == spine
}

func (m *measure) laned() (laned [2]bool) {
	for _, at := range m.at {
		if at.column != spine {
			laned[at.column] = true
		}
	}
	return laned
}

// heights gives each row and each gap its height, and each slot its own.
func (m *measure) heights() {
	y := m.top
	for row := range m.rows {
		y += m.gap(row)
		h := 0
		for st, at := range m.at {
			if at.row == row {
				h = max(h, nameHeight+len(m.docs[st])*docHeight+16)
			}
		}
		for c := range m.slots {
			h = max(h, m.fill(c, row)+slotGap)
		}
		m.rowTop, m.rowBase = append(m.rowTop, y), append(m.rowBase, y+h)
		for c := range m.slots {
			at := y + (h-m.fill(c, row))/2
			for _, x := range m.slots[c][row] {
				at += x.height()
				x.y = at - slotGap/2
			}
		}
		y += h
	}
	m.height = y + margin
	for _, c := range m.d.Composites {
		if boundsOf(m.at, c.States).last == m.rows-1 {
			m.height += frame
			break
		}
	}
}

// gap returns the room above a row, for the label of the arrow down the spine, for
// arrows that cross, and for the frames that begin or end there.
func (m *measure) gap(row int) int {
	h := m.crossing[row] * trackGap
	if row > 0 {
		h += rowGap
	}
	for _, r := range m.routes {
		if r.straight && m.at[r.To].row == row {
			h = max(h, m.crossing[row]*trackGap+len(r.text())*lineHeight+22)
		}
	}
	begins, ends := 0, 0
	for _, c := range m.d.Composites {
		b := boundsOf(m.at, c.States)
		if b.first == row {
			begins = frame + frameHead
		}
		if b.last == row-1 {
			ends = frame + 6
		}
	}
	return h + begins + ends
}

// states gives each state a box that all its arrows touch.
func (m *measure) states() {
	for st, at := range m.at {
		h := nameHeight + len(m.docs[st])*docHeight + 16
		y := (m.rowTop[at.row] + m.rowBase[at.row] - h) / 2
		b := box{m.column[at.column], y, boxWidth, h}
		for c := range m.slots {
			for _, x := range m.slots[c][at.row] {
				if x.near && at.column == spine || x.far && at.column == c {
					top, bottom := min(b.y, x.y-12), max(b.bottom(), x.y+12)
					b.y, b.h = top, bottom-top
				}
			}
		}
		m.boxes[st] = b
	}
}

// trackX returns the x of a channel's track.
func (m *measure) trackX(c, track int) int {
	if c == left {
		return m.track0[left] - track*trackGap
	}
	return m.track0[right] + track*trackGap
}

// frameOf returns the box of a composite.
func (m *measure) frameOf(c engine.Composite) box {
	b := boundsOf(m.at, c.States)
	first := slices.Index(b.columns[:], true)
	x0, x1 := m.column[first], m.column[first]+boxWidth
	for column, in := range b.columns {
		if in {
			x0, x1 = min(x0, m.column[column]), max(x1, m.column[column]+boxWidth)
		}
	}
	y0, y1 := m.rowTop[b.first], m.rowBase[b.last]
	for i, s := range c.States { // a box may be lower than its row
		if i == 0 && b.first == b.last {
			y0, y1 = m.boxes[s].y, m.boxes[s].bottom()
		}
		if b.first == b.last {
			y0, y1 = min(y0, m.boxes[s].y), max(y1, m.boxes[s].bottom())
		}
	}
	return box{x0 - frame, y0 - frame - frameHead + 6, x1 - x0 + 2*frame, y1 - y0 + 2*frame + frameHead - 6}
}
