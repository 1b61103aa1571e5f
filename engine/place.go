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
func (k *checker[M]) row(i int) string {
	r := k.chart.Rows[i]
	at := r.On.place()
	is := r.symbols()
	at = cmp.Or(at, is.when.place(), is.do.place())
	what := joined(r.On.kinds, ", ")
	if len(r.From) > 0 {
		what += " in " + few(r.From, func(s State) string { return string(s) })
	}
	if r.When != nil {
		what += " [" + is.when.last() + "]"
	}
	return strings.TrimSpace(fmt.Sprintf("%s row %d (%s)", at, i+1, strings.TrimSpace(what)))
}

// rowName is a row's name and place, as a text that is made when it is written.
type rowName[M any] struct {
	k *checker[M]
	i int
}

func (n rowName[M]) String() string { return n.k.row(n.i) }

// rowsThat returns the names of the first rows for which are holds.
func (k *checker[M]) rowsThat(are func(Row[M]) bool) string {
	var found []int
	for i, r := range k.chart.Rows {
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
