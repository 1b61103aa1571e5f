package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// What takes longest is begun first; the others keep their order.
func TestTheLongestPackagesAreBegunFirst(t *testing.T) {
	interop, ensemble := module+"/test/servers/interop", module+"/test/servers/ensemble"
	given := []string{module + "/a", ensemble, module + "/test/door", module + "/b", interop}
	want := []string{interop, ensemble, module + "/test/door", module + "/a", module + "/b"}
	if got := order(given); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := fmt.Sprint(inPlaceOfAll([]string{"-race", "./...", "-v"}, []string{"p", "q"})); got != "[-race p q -v]" {
		t.Errorf("go test is given %s", got)
	}
}

// A folder that was renamed would lose its place without a word.
func TestTheLongestPackagesExist(t *testing.T) {
	for _, dir := range selection.Longest() {
		if tests, _ := filepath.Glob(filepath.Join("..", "..", "..", dir, "*_test.go")); len(tests) == 0 {
			t.Errorf("%s has no tests (%v)", dir, os.ErrNotExist)
		}
	}
}
