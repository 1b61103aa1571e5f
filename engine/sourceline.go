package engine

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
)

// place returns a file and a line as "machines/line.go:116", wherever the module is and
// whether or not it was built with -trimpath. It returns "" if the file is unknown.
func place(file string, line int) string {
	if file == "" {
		return ""
	}
	steps := strings.Split(file, "/") // as the compiler writes it, also on Windows
	return fmt.Sprintf("%s:%d", strings.Join(steps[max(0, len(steps)-2):], "/"), line)
}

// place returns where a trigger was written.
func (t Trigger) place() string {
	if t.pc == 0 {
		return ""
	}
	frame, _ := runtime.CallersFrames([]uintptr{t.pc}).Next()
	return place(frame.File, frame.Line)
}

// row returns a row's name and place. Charts share rows, and the first chart that is
// compiled complains. A row without On has the place of its guard, or of its action.
func (k *checker) row(i int) string {
	r := k.chart.rows[i]
	at := cmp.Or(r.on.place(), r.is.when.place(), r.is.do.place())
	what := joined(r.on.kinds)
	if len(r.from) > 0 {
		what += " in " + few(r.from, func(s State) string { return string(s) })
	}
	if r.when != nil {
		what += " [" + r.is.when.last() + "]"
	}
	return strings.TrimSpace(fmt.Sprintf("%s row %d (%s)", at, i+1, strings.TrimSpace(what)))
}

// rowName is a row's name and place, as a text that is made when it is written.
type rowName struct {
	k *checker
	i int
}

func (n rowName) String() string { return n.k.row(n.i) }

// rowsThat returns the names of the first rows for which are holds.
func (k *checker) rowsThat(are func(row) bool) string {
	var found []int
	for i, r := range k.chart.rows {
		if are(r) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return "none"
	}
	return few(found, k.row)
}

// few returns the names of at most three, and the number of the others.
func few[T any](all []T, name func(T) string) string {
	var names []string
	for _, one := range all[:min(3, len(all))] {
		names = append(names, name(one))
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
