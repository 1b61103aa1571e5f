package drawing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/machines"
)

// gangs is a chart whose lanes are full of states that belong together, and so
// arrows have to cross the spine.
func gangs() engine.Description {
	d := engine.Description{Name: "gangs", Doc: "From one side to the other.", Happy: []engine.State{"a", "b", "c"}}
	for _, s := range []engine.State{"a", "b", "c", "x1", "x2", "x3", "y1", "y2", "y3"} {
		d.States = append(d.States, engine.StateDoc{Name: s})
	}
	for _, s := range [][2]engine.State{{"a", "b"}, {"b", "c"}, {"a", "x1"}, {"x1", "y1"}, {"x1", "x2"}, {"x2", "x3"},
		{"y2", "x3"}, {"y1", "x1"}, {"y1", "y2"}, {"y2", "y3"}, {"x3", "y3"}, {"y3", "a"}} {
		d.Rows = append(d.Rows, engine.RowDoc{From: s[:1], On: []events.Kind{"timer.fired"}, To: s[1]})
	}
	d.Composites = []engine.Composite{{Name: "X", States: []engine.State{"x1", "x2", "x3"}},
		{Name: "Y", States: []engine.State{"y1", "y2", "y3"}}}
	return d
}

// sheets are the layouts by the names of their charts. One takes long to find, and nothing that looks at it changes it.
var sheets = map[string]*sheet{}

func laidOut(t *testing.T, d engine.Description) *sheet {
	t.Helper()
	if s := sheets[d.Name]; s != nil {
		return s
	}
	s, err := layout(d)
	if err != nil {
		t.Fatal(err)
	}
	sheets[d.Name] = s
	return s
}

func drawn(t *testing.T, d engine.Description) string {
	t.Helper()
	return paint(d, laidOut(t, d))
}

// Composites that overlap are no boxes: that is an error, and no endless search.
func TestAChartWithoutAPicture(t *testing.T) {
	d := gangs()
	d.Composites = append(d.Composites, engine.Composite{Name: "Z", States: []engine.State{"a", "c"}})
	if _, err := Draw(d, "svg"); err == nil ||
		!strings.Contains(err.Error(), "chart gangs: its composites cannot be drawn") {
		t.Errorf("the error is %v", err)
	}
}

func TestArrowsCrossTheSpine(t *testing.T) {
	crossing := 0
	for _, r := range laidOut(t, gangs()).routes {
		if r.cross >= 0 {
			crossing++
		}
	}
	if crossing < 3 {
		t.Errorf("%d arrows cross the spine: the other tests say nothing about them", crossing)
	}
}

// charts are those of the library, and some that have what they lack: arrows
// from lane to lane, a long path back, a state alone.
func charts() []engine.Description {
	var all []engine.Description
	for _, r := range machines.Recipes() {
		all = append(all, r.Describe())
	}
	odd := engine.Description{Name: "odd", Doc: "A chart with <odd> & awkward corners.",
		Happy: []engine.State{"a", "b", "c"}, Final: "c"}
	for _, s := range []engine.State{"a", "b", "c", "d", "e", "f", "g", "h", "i", "alone"} {
		odd.States = append(odd.States, engine.StateDoc{Name: s, Doc: "It is called " + string(s) + " & nothing else."})
	}
	row := func(to engine.State, from ...engine.State) {
		odd.Rows = append(odd.Rows,
			engine.RowDoc{From: from, On: []events.Kind{"reply.children"}, Guard: "goesTo" + string(to), To: to})
	}
	row("b", "a")
	row("c", "b")
	row("a", "c", "b")
	for _, s := range []engine.State{"d", "e", "f", "g", "h", "i"} {
		row(s, "a", "b", "c")
		row("b", s)
	}
	row("g", "d")
	row("d", "g")
	row("h", "i")
	odd.Composites = []engine.Composite{{Name: "PAIR", States: []engine.State{"a", "b"}}}
	return append(all, odd, gangs())
}

// rect is something that takes room in a picture.
type rect struct {
	what           string
	x0, y0, x1, y1 int
}

func (r rect) hits(o rect) bool { return r.x0 < o.x1 && o.x0 < r.x1 && r.y0 < o.y1 && o.y0 < r.y1 }

// room lists the boxes of states and the labels next to them.
func room(p *pen) (boxes, labels []rect) {
	for s, b := range p.boxes {
		boxes = append(boxes, rect{string(s), b.x, b.y, b.right(), b.bottom()})
	}
	for _, r := range p.routes {
		for _, x := range []*slot{r.out, r.in} {
			if x == nil || len(x.label) == 0 || x == r.in && r.out == r.in {
				continue
			}
			w := textWidth(x.label)
			x0 := p.edge(x) + labelGap
			if p.inward(x) {
				x0 = p.edge(x) - labelGap - w
			}
			labels = append(labels,
				rect{fmt.Sprint(r.From, "->", r.To, x.label), x0, x.y - 5 - (len(x.label)-1)*lineHeight - 10,
					x0 + w, x.y - 3})
		}
	}
	return boxes, labels
}

func TestNothingLiesOnAnythingElse(t *testing.T) {
	for _, d := range charts() {
		p := &pen{measure: size(laidOut(t, d), 88)}
		boxes, labels := room(p)
		if len(boxes) != len(d.States) {
			t.Errorf("%s: %d boxes for %d states", d.Name, len(boxes), len(d.States))
		}
		all := append(boxes, labels...)
		for i, a := range all {
			if a.x0 < 0 || a.y0 < 0 || a.x1 > p.width || a.y1 > p.height {
				t.Errorf("%s: %s is outside of the picture", d.Name, a.what)
			}
			for _, b := range all[:i] {
				if a.hits(b) {
					t.Errorf("%s: %s lies on %s", d.Name, a.what, b.what)
				}
			}
		}
		for _, r := range p.routes {
			if !r.straight && !r.shared {
				mustKeepClear(t, p, r, all)
			}
		}
	}
}

// mustKeepClear asks that an arrow runs through no box, and its upright part
// through no label.
func mustKeepClear(t *testing.T, p *pen, r *route, all []rect) {
	t.Helper()
	corners := p.path(r)
	for i := 1; i < len(corners); i++ {
		a, b := corners[i-1], corners[i]
		line := rect{"", min(a.x, b.x), min(a.y, b.y), max(a.x, b.x), max(a.y, b.y)}
		upright := a.x == b.x
		if upright {
			line.x1++
		} else {
			line.y1++
		}
		for n, other := range all {
			isLabel := n >= len(p.boxes)
			if line.hits(other) && (upright || !isLabel) {
				t.Errorf("%s: the arrow %v -> %s runs through %s", p.d.Name, r.From, r.To, other.what)
			}
		}
	}
	last := corners[len(corners)-1]
	b := p.boxes[r.To]
	if last.x != b.x && last.x != b.right() || last.y < b.y || last.y > b.bottom() {
		t.Errorf("%s: the arrow %v -> %s ends next to its state", p.d.Name, r.From, r.To)
	}
}

func TestTracksDoNotShareALine(t *testing.T) {
	for _, d := range charts() {
		s := laidOut(t, d)
		for c := range s.tracks {
			for i, r := range s.routes {
				a, b, ok := s.extent(r, c)
				for _, other := range s.routes[:i] {
					x, y, ok2 := s.extent(other, c)
					if ok && ok2 && r.tracks[c] == other.tracks[c] && min(a, b) <= max(x, y) && min(x, y) <= max(a, b) {
						t.Errorf("%s: %v -> %s and %v -> %s are one line", d.Name, r.From, r.To, other.From, other.To)
					}
				}
			}
		}
	}
}

// What stands under the title is one line that fits the picture; letters of that
// size are about 7 wide.
func TestTheSummaryFits(t *testing.T) {
	for _, d := range charts() {
		if m, want := size(laidOut(t, d), 88), 2*margin+7*len([]rune(d.Summary())); want > m.width {
			t.Errorf("%s: %q is about %d wide, the picture %d", d.Name, d.Summary(), want, m.width)
		}
	}
}

// The path that a newcomer should see first goes straight down.
func TestHappyPathIsStraight(t *testing.T) {
	for _, d := range charts() {
		m := size(laidOut(t, d), 88)
		for i := 1; i < len(d.Happy); i++ {
			a, b := m.boxes[d.Happy[i-1]], m.boxes[d.Happy[i]]
			if a.center() != b.center() || a.bottom() >= b.y {
				t.Errorf("%s: from %s to %s it is not straight down", d.Name, d.Happy[i-1], d.Happy[i])
			}
		}
		svg := drawn(t, d)
		if got := strings.Count(svg, `<path class="arrow happy"`); got != len(d.Happy) { // one in the legend
			t.Errorf("%s: %d happy arrows for %d steps", d.Name, got-1, len(d.Happy)-1)
		}
	}
}

func TestCompositesHoldTheirOwn(t *testing.T) {
	for _, d := range charts() {
		m := size(laidOut(t, d), 88)
		for _, c := range d.Composites {
			f := m.frameOf(c)
			for s, b := range m.boxes {
				inside := b.x >= f.x && b.right() <= f.right() && b.y >= f.y && b.bottom() <= f.bottom()
				outside := b.right() < f.x || b.x > f.right() || b.bottom() < f.y || b.y > f.bottom()
				member := false
				for _, x := range c.States {
					member = member || x == s
				}
				if member != inside || member == outside {
					t.Errorf("%s: %s is in the wrong place for %s", d.Name, s, c.Name)
				}
			}
		}
	}
}

func TestSVGIsWellFormed(t *testing.T) {
	empty, err := SVG(engine.Description{})
	if err != nil {
		t.Fatal(err)
	}
	pictures := map[string]string{"": empty}
	for _, d := range charts() {
		pictures[d.Name] = drawn(t, d)
	}
	for name, picture := range pictures {
		dec := xml.NewDecoder(strings.NewReader(picture))
		for {
			_, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}

func TestDrawKnowsItsFormats(t *testing.T) {
	begins := map[string]string{"markdown": "# latch\n", "mermaid": "stateDiagram-v2\n", "dot": `digraph "latch" {`,
		"xstate": "{\n  \"id\": \"latch\"", "svg": "<svg ", "table": "latch: "}
	for _, format := range Formats() {
		got, err := Draw(machines.LatchRecipe.Describe(), format)
		if err != nil || !strings.HasPrefix(got, begins[format]) || begins[format] == "" {
			t.Errorf("%s: %.20q, %v", format, got, err)
		}
	}
	if _, err := Draw(machines.LatchRecipe.Describe(), "png"); err == nil ||
		err.Error() != `drawing: no format "png", want one of markdown, mermaid, dot, xstate, svg, table` {
		t.Error(err)
	}
}
