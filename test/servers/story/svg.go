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
)

func x(t time.Duration) float64 {
	return margin + (min(max(t, -before), after)+before).Seconds()*perSecond
}

// svg draws the outcomes of these kinds as a picture: for each kind the leader's belief above its rival's, and in red where
// they overlap.
func svg(all []outcome, shown ...kind) string {
	var b strings.Builder
	y := 10
	last := ""
	for _, o := range all {
		if !slices.Contains(shown, o.kind) {
			continue
		}
		if head := fmt.Sprintf("%s, session timeout %.0f s", o.scenario, o.timeout.Seconds()); head != last {
			last = head
			y += headHigh
			heading(&b, head, y, rowHigh*len(shown))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", margin-12, y+laneHigh+5, o.kind)
		bars(&b, o.a, y+2, "#2563a8")
		bars(&b, o.b, y+4+laneHigh, "#3f9142")
		shade(&b, o, y)
		y += rowHigh
	}
	y += 34
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="s"><tspan fill="#2563a8">■</tspan> A leads, at the server that is cut off   `+
		`<tspan fill="#3f9142">■</tspan> B leads, at the others   <tspan fill="#c22">■</tspan> both lead   (seconds from the cut)</text>`+"\n", margin, y)
	width := margin + int((before+after).Seconds())*perSecond + 20
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="14">
<style>.s{font-size:12px;fill:#444;white-space:pre}.h,.o{font-weight:bold}.o{fill:#fff}</style>
<rect width="100%%" height="100%%" fill="#fff"/>
`, width, y+16) + b.String() + "</svg>\n"
}

func heading(b *strings.Builder, text string, y, high int) {
	rows := y + high
	fmt.Fprintf(b, `<text x="%d" y="%d" class="h">%s</text>`+"\n", margin, y-18, text)
	for s := time.Duration(0); s <= after; s += 2 * time.Second {
		color := "#ddd"
		if s == 0 {
			color = "#000"
		}
		fmt.Fprintf(b, `<path d="M%.0f %dV%d" stroke="%s"/><text x="%.0f" y="%d" class="s" text-anchor="middle">%d</text>`+"\n",
			x(s), y-4, rows, color, x(s), y-6, int(s.Seconds()))
	}
}

func bars(b *strings.Builder, spans []span, y int, color string) {
	for _, s := range spans {
		if s.to > -before && s.fromBy < after {
			fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", x(s.fromBy), y, x(s.to)-x(s.fromBy), laneHigh, color)
		}
	}
}

func shade(b *strings.Builder, o outcome, y int) {
	for _, p := range o.a {
		for _, q := range o.b {
			from, to := max(p.fromBy, q.fromBy), min(p.to, q.to)
			if from < to {
				fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="#c22" opacity="0.8"/><text x="%.1f" y="%d" class="o" text-anchor="middle">%.1f s</text>`+"\n",
					x(from), y, x(to)-x(from), 2*laneHigh+6, (x(from)+x(to))/2, y+laneHigh+8, (to - from).Seconds())
			}
		}
	}
}
