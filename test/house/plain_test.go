package house

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ceilings are how often Go files may have each of these words, names included.
// Each hides who does what, or has to be looked up. A ceiling only falls: who
// mends a file lowers it.
var ceilings = map[string]int{
	"all the same": 1, "anew": 2, "beside": 4, "desk": 0, "errand": 0, "farewell": 0, "for all that": 0, "for ever": 2,
	"goods": 0, "graveless": 0, "in vain": 1, "is told": 56, "mourn": 0, "office": 0, "patron": 0,
	"stands in the way": 0,
	"told":              305, "whoever": 12, "whom": 14,
}

// counted returns how often each word of the ceilings stands in a text. What is
// broken over two lines of a comment counts, too.
func counted(text string) map[string]int {
	flat := strings.Join(strings.FieldsFunc(strings.ReplaceAll(text, "//", " "), func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\n'
	}), " ")
	found := map[string]int{}
	lower := strings.ToLower(flat)
	for word := range ceilings {
		if !strings.Contains(lower, word) {
			continue // quicker than the expression
		}
		found[word] = len(regexp.MustCompile(`(?i)\b`+word+`\b`).FindAllString(flat, -1))
	}
	return found
}

func TestGoFilesAreInPlainWords(t *testing.T) {
	sum := map[string]int{}
	for _, f := range files(t) {
		if f.path == "test/house/plain_test.go" || f.path == "test/house/docs_test.go" {
			continue
		}
		for word, n := range counted(f.text) {
			sum[word] += n
		}
	}
	for _, word := range slices.Sorted(maps.Keys(ceilings)) {
		switch got, most := sum[word], ceilings[word]; {
		case got > most:
			t.Errorf("%q stands in Go files %d times, of %d\n\twhy not: say who does what, in words of Go and "+
				"ZooKeeper: find it by git grep -wi %s",
				word, got, most, strconv.Quote(word))
		case got < most:
			t.Errorf("%q stands in Go files %d times: lower its ceiling from %d", word, got, most)
		}
	}
	got := counted("// Whoever is\n// told in vain has Told.\nfunc toldOf(office int) {}")
	for word := range ceilings {
		n := got[word]
		if want := map[string]int{"whoever": 1, "is told": 1, "told": 2, "in vain": 1, "office": 1}[word]; n != want {
			t.Errorf("%q was found %d times in the breach, and stands there %d times", word, n, want)
		}
	}
}
