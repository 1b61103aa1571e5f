package double

import (
	"fmt"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/bench/report"
	"github.com/incumbent-go/incumbent/bench/stats"
)

// columns are the figures of the table.
var columns = []struct {
	name string
	of   func(Load, Figures) float64
}{
	{"start, ms", func(_ Load, f Figures) float64 { return milliseconds(f.Start) }},
	{"creates, a second", func(l Load, f Figures) float64 { return float64(l.Nodes) / f.Creates.Seconds() }},
	{"answer p50, µs", func(_ Load, f Figures) float64 { return stats.Median(f.Answers) / 1e3 }},
	{"answer p99, µs", func(_ Load, f Figures) float64 { return stats.Quantile(f.Answers, 0.99) / 1e3 }},
	{"CPU of the server, µs a request", func(_ Load, f Figures) float64 {
		return milliseconds(f.CPU) * 1e3 / float64(len(f.Answers))
	}},
	{"RSS, MB", func(_ Load, f Figures) float64 { return float64(f.RSS) / (1 << 20) }},
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Markdown returns the table: medians of the rounds with their intervals.
func (l Load) Markdown(servers []Server, all map[string][]Figures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#### %d sessions, %d nodes, %d requests a second\n\n|  |", l.Sessions, l.Nodes, l.Rate)
	for _, c := range columns {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, s := range servers {
		b.WriteString("| " + s.Label + " |")
		for _, c := range columns {
			var each []float64
			for _, f := range all[s.Label] {
				each = append(each, c.of(l, f))
			}
			b.WriteString(" " + report.Interval(stats.MedianInterval(each, report.Confidence)) + " |")
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n%d rounds.\n", len(all[servers[0].Label]))
	return b.String()
}
