package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// ranVariable names a file between two runs of one commit. A run without the race detector writes into it what it ran,
// and a proof runs nothing a second time that ran in full there: not skipped, and not in part. .ci/run sets it; without
// it a proof runs everything.
const ranVariable = "INCUMBENT_RAN"

// ran has the packages that passed without the race detector, each with the tests that did not run in full.
type ran map[string][]string

// finished reports whether a test ran in full, with its subtests.
func (r ran) finished(k key) bool {
	unfinished, before := r[k.pkg]
	return before && !slices.Contains(unfinished, top(k.test))
}

// top returns the test that a subtest is of.
func top(test string) string {
	test, _, _ = strings.Cut(test, "/")
	return test
}

// readRan reads the file; without one nothing ran before.
func readRan(file string) (ran, error) {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	all := ran{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 {
			all[fields[0]] = fields[1:]
		}
	}
	return all, err
}

// writeRan writes the file.
func (t *tally) writeRan(file string) error {
	left := ran{}
	for pkg := range t.packages {
		left[pkg] = nil
	}
	for _, k := range slices.Concat(t.skips, slices.Collect(maps.Keys(t.parts))) {
		if _, passed := left[k.pkg]; passed {
			left[k.pkg] = append(left[k.pkg], top(k.test))
		}
	}
	var b strings.Builder
	for _, pkg := range slices.Sorted(maps.Keys(left)) {
		slices.Sort(left[pkg])
		fmt.Fprintln(&b, strings.Join(append([]string{pkg}, slices.Compact(left[pkg])...), " "))
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// connect reads what ran before if this run proves and has all tests, and returns what is to be done at its end.
func (t *tally) connect(level selection.Level, args []string, file string) (end func() error, err error) {
	some := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-run") })
	switch {
	case level == selection.Prove && !some:
		t.ran, err = readRan(file)
	case level != selection.Prove && !some && file != "" && !slices.Contains(args, "-race"):
		return func() error { return t.writeRan(file) }, nil
	}
	return func() error { return nil }, err
}

// left returns the arguments that run what is left of these packages, without the race detector: those of which nothing
// is known run whole, and of the others the tests that did not run in full.
func (t *tally) left(args, packages []string) (all [][]string) {
	var whole, some, tests []string
	for _, pkg := range packages {
		switch unfinished, before := t.ran[pkg]; {
		case !before:
			whole = append(whole, pkg)
		case len(unfinished) > 0:
			some, tests = append(some, pkg), append(tests, unfinished...)
		}
	}
	if args = unraced(args); len(whole) > 0 {
		all = append(all, inPlaceOfAll(args, whole))
	}
	if len(some) > 0 {
		all = append(all, append(inPlaceOfAll(args, some), "-run", pattern(tests)))
	}
	return all
}

// sayRan writes that something ran before.
func (t *tally) sayRan() {
	if len(t.ran) == 0 {
		return
	}
	full := 0
	for _, unfinished := range t.ran {
		if len(unfinished) == 0 {
			full++
		}
	}
	fmt.Fprintf(t.out, "without the race detector, only what had not run in full before: of %d packages nothing, of "+
		"%d some tests\n",
		full, len(t.ran)-full)
}
