package story

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sizes of the picture.
const (
	perSecond = 36
	margin    = 190
	laneHigh  = 13
	rowHigh   = 38
	headHigh  = 46

	// leastGap is how long nobody leads in a gap that has room to say so.
	leastGap = 2800 * time.Millisecond
)

// style has the colours, for light pages and for dark ones.
const style = `.s{font-size:13px;fill:#444;white-space:pre}.h,.o,.good,.bad,.gap{font-weight:bold}.o{fill:#fff}
.gap{font-size:12px}.good,.gap{fill:#156a2c}.bad{fill:#b3140b}
text{fill:#1b2430}.paper{fill:#fff}.grid{stroke:#ddd}.cut{stroke:#000}.a{fill:#2563a8}.b{fill:#3f9142}.two{fill:#c22}
@media(prefers-color-scheme:dark){
text{fill:#e4e9ef}.s{fill:#b3bdc8}.paper{fill:#0d1117}.grid{stroke:#30363d}.cut{stroke:#e4e9ef}
.good,.gap{fill:#56d364}.bad{fill:#ff8f87}.a{fill:#5a9be6}.b{fill:#4fb356}.o{fill:#fff}}`

func x(t time.Duration) float64 {
	return margin + (min(max(t, -before), after)+before).Seconds()*perSecond
}

// svg draws the outcomes of these kinds as a picture: for each kind the leader's belief above its rival's, and in red
// where they overlap.
func svg(all []outcome, shown ...kind) string {
	var b strings.Builder
	y := 10
	last := ""
	for _, o := range all {
		if !slices.Contains(shown, o.kind) {
			continue
		}
		name := strings.ToUpper(string(o.scenario[:1])) + string(o.scenario[1:])
		if head := fmt.Sprintf("%s, session timeout %.0f s", name, o.timeout.Seconds()); head != last {
			last = head
			y += headHigh
			heading(&b, head, y, rowHigh*len(shown))
		}
		class, sign := "good", "✓"
		if o.overlaps() {
			class, sign = "bad", "✕"
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="%s" text-anchor="end">%s %s</text>`+"\n", margin-12, y+laneHigh+5,
			class, sign, o.kind)
		bars(&b, o.a, y+2, "a")
		bars(&b, o.b, y+4+laneHigh, "b")
		shade(&b, o, y)
		gap(&b, o, y)
		y += rowHigh
	}
	y += 34
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="s"><tspan class="good">✓ never two</tspan>   <tspan class="bad">✕ `+
		`two at once</tspan>   `+
		`<tspan class="a">■</tspan> A leads, at the server that is cut off   <tspan class="b">■</tspan> B leads, `+
		`at the others   `+
		`<tspan class="two">■</tspan> both lead   (seconds from the cut)</text>`+"\n", 20, y)
	width := margin + int((before+after).Seconds())*perSecond + 20
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" `+
		`font-family="sans-serif" font-size="14">
<style>%s</style>
<rect width="100%%" height="100%%" class="paper"/>
`, width, y+16, style) + b.String() + "</svg>\n"
}

func heading(b *strings.Builder, text string, y, high int) {
	rows := y + high
	fmt.Fprintf(b, `<text x="%d" y="%d" class="h">%s</text>`+"\n", margin, y-18, text)
	for s := time.Duration(0); s <= after; s += 2 * time.Second {
		class := "grid"
		if s == 0 {
			class = "cut"
		}
		fmt.Fprintf(b, `<path d="M%.0f %dV%d" class="%s"/><text x="%.0f" y="%d" class="s" `+
			`text-anchor="middle">%d</text>`+"\n",
			x(s), y-4, rows, class, x(s), y-6, int(s.Seconds()))
	}
}

func bars(b *strings.Builder, spans []span, y int, class string) {
	for _, s := range spans {
		if s.to > -before && s.fromBy < after {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" class="%s"/>`+"\n", x(s.fromBy), y,
				x(s.to)-x(s.fromBy), laneHigh, class)
		}
	}
}

func shade(b *strings.Builder, o outcome, y int) {
	for _, p := range o.a {
		for _, q := range o.b {
			from, to := max(p.fromBy, q.fromBy), min(p.to, q.to)
			if from < to {
				fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" class="two" opacity="0.85"/><text `+
					`x="%.1f" y="%d" class="o" text-anchor="middle">%.1f s</text>`+"\n",
					x(from), y, x(to)-x(from), 2*laneHigh+6, (x(from)+x(to))/2, y+laneHigh+8, (to - from).Seconds())
			}
		}
	}
}

// overlaps reports whether both led at once.
func (o outcome) overlaps() bool {
	return slices.ContainsFunc(o.a, func(p span) bool {
		return slices.ContainsFunc(o.b, func(q span) bool { return max(p.fromBy, q.fromBy) < min(p.to, q.to) })
	})
}

// gap says for how long nobody led, between the end of A and the first beginning of B.
func gap(b *strings.Builder, o outcome, y int) {
	if len(o.a) == 0 || len(o.b) == 0 || o.b[0].fromBy-o.a[len(o.a)-1].to < leastGap {
		return
	}
	from, to := o.a[len(o.a)-1].to, o.b[0].fromBy
	fmt.Fprintf(b, `<text x="%.1f" y="%d" class="gap" text-anchor="middle">nobody for %.1f s</text>`+"\n",
		(x(from)+x(to))/2, y+laneHigh+8, (to - from).Seconds())
}
