package main

import (
	"fmt"
	"strconv"
	"strings"
)

// point is one scrape of one client.
type point struct {
	seconds        float64
	client         string
	leading        bool
	marginSum, had float64 // the sum and the number of the margins up to now
}

// read returns the scrapes of a recorded run. What is no number counts as 0.
func read(rows string) (all []point) {
	for _, line := range strings.Split(strings.TrimSpace(strings.ReplaceAll(rows, "\r", "")), "\n")[1:] {
		cells := strings.Split(line, "\t")
		number := func(i int) float64 { v, _ := strconv.ParseFloat(cells[i], 64); return v }
		all = append(all, point{number(0) / 1000, cells[1], cells[2] == "1", number(3), number(4)})
	}
	return all
}

const (
	left, width  = 130.0, 680.0
	laneHeight   = 34.0
	laneTop      = 56.0
	leadersTop   = laneTop + 3*laneHeight
	marginTop    = 245.0
	marginHeight = 130.0
)

func x(seconds float64) float64 { return left + seconds/length.Seconds()*width }

// draw returns the picture: who leads, below what happens, and the margin of belief.
func draw(all []point) string {
	var b strings.Builder
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, s)
	}
	line := func(class string, x1, y1, x2, y2 float64) {
		fmt.Fprintf(&b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class, x1, y1, x2, y2)
	}
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 420" ` +
		`font-family="sans-serif" font-size="12">
<title>Who leads, and the margin of belief, in forty seconds of scrapes</title>
<style>text{fill:#1b2430}.paper{fill:#fff}.grid{stroke:#ddd}.event{stroke:#c60;stroke-dasharray:3 3}
.limit{stroke:#c00}.leads{fill:#2a7}.nobody{fill:#c62828}.margin{fill:none;stroke:#247;stroke-width:1.5}
@media(prefers-color-scheme:dark){text{fill:#e4e9f0}.paper{fill:#161b22}.grid{stroke:#333c48}
.event{stroke:#f59e42}.limit{stroke:#ff7b72}.margin{stroke:#79b8ff}.leads{fill:#1f9d63}}</style>
<rect class="paper" width="840" height="420"/>
`)
	for s := 0.0; s <= length.Seconds(); s += 5 {
		line("grid", x(s), laneTop, x(s), marginTop+marginHeight)
		text(x(s), marginTop+marginHeight+18, "middle", fmt.Sprintf("%.0f s", s))
	}
	for i, h := range happenings {
		line("event", x(h.at.Seconds()), 34, x(h.at.Seconds()), marginTop+marginHeight)
		if h.what != "" {
			text(x(h.at.Seconds()), 14+float64(i%2)*14, "middle", h.what)
		}
	}
	text(left-10, laneTop-6, "end", "incumbent_leading")
	for i, client := range []string{"a", "b", "c"} {
		top := laneTop + float64(i)*laneHeight
		text(left-10, top+laneHeight/2+4, "end", client)
		for _, span := range spans(all, client) {
			fmt.Fprintf(&b, "<rect class=\"leads\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
				x(span[0]), top+6, x(span[1])-x(span[0]), laneHeight-12)
		}
	}
	text(left-10, leadersTop+laneHeight/2+4, "end", "leaders now")
	for _, span := range states(all) {
		from, to := x(span.from), x(span.to)
		class, says := "leads", ""
		if span.leaders == 0 {
			class, says = "nobody", fmt.Sprintf("nobody for %.1f s", span.to-span.from)
		}
		fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", class, from,
			leadersTop+6, to-from, laneHeight-12)
		if to-from > 10 {
			text((from+to)/2, leadersTop+laneHeight+8, "middle", says)
		}
	}
	text(left-10, marginTop-18, "end", "belief_margin")
	for _, share := range []float64{0, .25, .5, .75, 1} {
		y := marginTop + (1-share)*marginHeight
		class := "grid"
		if share == .25 {
			class = "limit"
		}
		line(class, left, y, left+width, y)
		text(left-10, y+4, "end", fmt.Sprintf("%.0f %%", share*100))
	}
	path := ""
	for _, m := range margins(all) {
		path += fmt.Sprintf(" %.1f,%.1f", x(m[0]), marginTop+(1-m[1])*marginHeight)
	}
	fmt.Fprintf(&b, "<polyline class=\"margin\" points=\"%s\"/>\n</svg>\n", strings.TrimSpace(path))
	return b.String()
}

// spans returns from when until when a client led: from the first scrape that shows it to the first that does not.
func spans(all []point, client string) (found [][2]float64) {
	leads, last := false, 0.0
	for _, p := range all {
		if p.client != client {
			continue
		}
		switch {
		case p.leading && !leads:
			found = append(found, [2]float64{p.seconds, p.seconds})
		case leads:
			found[len(found)-1][1] = p.seconds
		}
		leads, last = p.leading, p.seconds
	}
	if leads {
		found[len(found)-1][1] = last
	}
	return found
}

// state is a time in which the same number of clients led.
type state struct {
	from, to float64
	leaders  int
}

// states returns how many clients led, as a dashboard's state timeline shows it: from one scrape of all to the next.
func states(all []point) (found []state) {
	for i := 0; i+2 < len(all); i += 3 {
		leaders := 0
		for _, p := range all[i : i+3] {
			if p.leading {
				leaders++
			}
		}
		now := all[i].seconds
		if n := len(found); n > 0 {
			found[n-1].to = now
			if found[n-1].leaders == leaders {
				continue
			}
		}
		found = append(found, state{now, now, leaders})
	}
	return found
}

// margins returns the lowest mean margin of the three clients between two scrapes, at each scrape that has any.
func margins(all []point) (found [][2]float64) {
	before := map[string]point{}
	for _, p := range all {
		was, known := before[p.client]
		before[p.client] = p
		if !known || p.had == was.had {
			continue
		}
		mean := (p.marginSum - was.marginSum) / (p.had - was.had)
		if n := len(found); n > 0 && found[n-1][0] == p.seconds {
			found[n-1][1] = min(found[n-1][1], mean)
			continue
		}
		found = append(found, [2]float64{p.seconds, mean})
	}
	return found
}
