//go:build unix

package suites

import (
	_ "embed"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var (
	full = flag.Bool("full", false, "run all tests against zkmem and a real server, and write docs/proofs.md")
	only = flag.String("only", "", "with -full, the suite that runs; the page stays as it was")
)

// suite runs tests of a library against servers, or all of them if none is named.
type suite func(t *testing.T, s servers, bound time.Duration, tests []string) results

// A suite without a sample runs with -full alone.
var suites = []struct {
	name string
	find func(*testing.T) suite
	few  int // how many of the sample make test runs
}{
	{"kazoo", kazoo, 3},
	{"go-zookeeper", goZooKeeper, 2},
	{"curator", curator, 3},
	{"curator-x-async", fromSources("curator-x-async"), 0},
	{"curator-x-discovery", fromSources("curator-x-discovery"), 0},
	{"zookeeper-client", rust, 0},
}

//go:embed testdata/sample.tsv
var sampleTable string

// sample returns the tests of a suite that the table names: a line is a suite's name, a tab and a test's name.
func sample(name string) (tests []string) {
	for line := range strings.Lines(sampleTable) {
		if of, test, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && of == name {
			tests = append(tests, test)
		}
	}
	return tests
}

// The bounds end what hangs. A sample takes half a minute, a whole suite up to ten.
const sampleBound, wholeBound = 5 * time.Minute, 45 * time.Minute

// What passes against a real server passes against zkmem.
func TestSuites(t *testing.T) {
	if *full {
		whole(t)
		return
	}
	for _, s := range suites {
		if s.few == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			tests := sample(s.name)
			if len(tests) == 0 {
				t.Fatal("testdata/sample.tsv has no test of it")
			}
			if tests = selection.Some(t, "tests", 0, s.few, tests); len(tests) == 0 {
				return
			}
			run := s.find(t)
			all := run(t, onZkmem(t), sampleBound, tests)
			if tests = all.without(tests, passed); len(tests) == 0 {
				return
			}
			// Some of these tests depend on how fast their threads and the machine are: a failure has to happen twice.
			t.Logf("again: %q", tests)
			all = run(t, onZkmem(t), sampleBound, tests)
			for _, test := range all.without(tests, passed) {
				t.Errorf("%s %s against zkmem:\n%s", test, all.of(test), all[test].said)
			}
		})
	}
}

// whole runs everything, one suite after the other, and writes the page.
func whole(t *testing.T) {
	realzk.Require(t)
	var all []comparison
	for _, s := range suites {
		if *only != "" && s.name != *only {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			run := s.find(t)
			one := comparison{suite: s.name}
			for _, on := range []servers{onZkmem(t), onReal(t)} {
				one.sides = append(one.sides, side{on.name, run(t, on, wholeBound, nil)})
				t.Log(listing(s.name, one.sides[len(one.sides)-1]))
			}
			all = append(all, one)
		})
	}
	if len(all) < len(suites) {
		t.Fatal("a suite has no results: the page stays as it was")
	}
	for _, wrong := range writePage(t, all) {
		t.Error(wrong)
	}
}
