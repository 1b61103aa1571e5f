package house

import (
	"fmt"
	"strings"
	"testing"
)

// maxComparedStates is how often the worlds compare something with the name of a state, where its class would not do: a
// model that is to disagree with the machines knows their states. It only falls.
const maxComparedStates = 227

func TestWorldsCompareStatesByNameLessOften(t *testing.T) {
	var all []string
	for _, f := range files(t) {
		if !under(f.dir, "test/worlds") || strings.HasSuffix(f.path, "_test.go") || f.nested {
			continue
		}
		for _, found := range f.each(comparedState) {
			all = append(all, fmt.Sprintf("%s:%d %s", f.path, f.line(found.at), found.what))
		}
	}
	if len(all) != maxComparedStates {
		t.Errorf("%d comparisons, and maxComparedStates is %d: ask for the class, or lower it\n%s", len(all),
			maxComparedStates, strings.Join(all, "\n"))
	}
}
