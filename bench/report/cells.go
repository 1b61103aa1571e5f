package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/incumbent-go/incumbent/bench/driver"
	"github.com/incumbent-go/incumbent/bench/stats"
)

// head writes the names of the columns.
func (t *Table) head(b *strings.Builder) {
	unit, of := t.unit()
	columns := []string{"", "p50, " + unit, "p90, " + unit, "× Lock"}
	if t.hasFloor() {
		columns = append(columns, "× floor")
	}
	if t.Expense {
		columns = append(columns, "CPU, "+unit+of, "objects"+of, "requests"+of, "bytes"+of, "RSS, MB")
	}
	if t.Result.Scenario.Alone {
		columns = append(columns, "RSS grew by, MB")
	}
	b.WriteString("| " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)-1) + "\n")
}

func (t *Table) hasFloor() bool { return t.Floor != driver.Entrant{} }

// unit returns the unit of times, and what expenses are divided by.
func (t *Table) unit() (name, of string) {
	if t.PerRun {
		return "ms", ""
	}
	return "µs", " each"
}

// line writes one row.
func (t *Table) line(b *strings.Builder, r row) {
	scale := 1.0
	if t.PerRun {
		scale = 1000
	}
	p50 := stats.Interval{Low: r.p50.Low / scale, Mid: r.p50.Mid / scale, High: r.p50.High / scale}
	cells := []string{r.Label, Interval(p50), number(r.p90/scale, 3), Interval(r.toLock)}
	if t.hasFloor() {
		cells = append(cells, Interval(r.toFloor))
	}
	if t.Expense {
		cells = append(cells, number(r.cpu/scale, 3), known(r.mallocs), t.count(r, true), t.count(r, false),
			number(r.rss, 3))
	}
	if t.Result.Scenario.Alone {
		cells = append(cells, number(r.grown, 3))
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// count returns the requests, or the bytes, of one run or of each of its N.
func (t *Table) count(r row, requests bool) string {
	c, ok := t.Counts[r.Entrant]
	if !ok {
		return "–"
	}
	n := float64(c.Bytes)
	if requests {
		n = float64(c.Requests)
	}
	if !t.PerRun {
		n /= float64(t.Result.Scenario.N)
	}
	return number(n, 3)
}

// known returns a number that is 0 if it is not known.
func known(x float64) string {
	if x == 0 {
		return "–"
	}
	return number(x, 3)
}

// Interval returns the text of a median and its interval.
func Interval(x stats.Interval) string {
	if math.IsNaN(x.Mid) {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", number(x.Mid, 3), number(x.Low, 3), number(x.High, 3))
}

// number returns x with at least so many significant digits, and thousands grouped.
func number(x float64, digits int) string {
	if math.IsNaN(x) {
		return "–"
	}
	if x == 0 {
		return "0"
	}
	whole := int(math.Floor(math.Log10(math.Abs(x)))) + 1
	text := fmt.Sprintf("%.*f", max(0, digits-max(1, whole)), x)
	integer, fraction, _ := strings.Cut(text, ".")
	for i := len(integer) - 3; i > 0 && integer[i-1] != '-'; i -= 3 {
		integer = integer[:i] + "," + integer[i:]
	}
	if fraction != "" {
		return integer + "." + fraction
	}
	return integer
}
