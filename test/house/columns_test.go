package house

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// columns is how wide a line of a Go file may be. A tab counts as four.
const columns = 120

func TestLinesAreNoWiderThanAScreen(t *testing.T) {
	for _, f := range files(t) {
		if lines := widerLines(f.text); len(lines) > 0 {
			t.Errorf("%s: the lines %v have more than %d columns\n\twhy not: two files stand next to each other on a "+
				"screen, and a comparison shows both sides", f.path, lines, columns)
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
