package house

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how wide a line of a Go file may be. A tab counts as four.
const columns = 120

// wide are the files with wider lines, and how many each has. The numbers only fall. A file that is not here has none.
var wide = map[string]int{}

func TestLinesAreNoWiderThanAScreen(t *testing.T) {
	got := map[string]int{}
	for _, f := range files(t) {
		lines := widerLines(f.text)
		got[f.path] = len(lines)
		if n := wide[f.path]; len(lines) > n {
			t.Errorf("%s: %d lines have more than %d columns, of %d: %v\n\twhy not: two files stand next to "+
				"each other on a "+
				"screen, and a comparison shows both sides", f.path, len(lines), columns, n, lines)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(wide)) {
		if got[path] < wide[path] {
			t.Errorf("%s: %d lines are too wide: lower the number from %d", path, got[path], wide[path])
		}
	}
}

// widerLines returns the numbers of the lines that are too wide.
func widerLines(text string) (found []int) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > columns {
			found = append(found, n)
		}
	}
	return found
}

func TestAWideLineIsFound(t *testing.T) {
	fits := "\t// " + strings.Repeat("ü", columns-7)
	text := "package x\r\n" + fits + "\r\n" + fits + "x\n\t" + fits + "\n"
	if got := widerLines(text); !slices.Equal(got, []int{3, 4}) {
		t.Errorf("the lines %v are too wide, not 3 and 4", got)
	}
}
