package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// again returns the arguments that run the tests which ran a part once more, without the race
// detector, but for those that ran in full before. It returns the tests that are owed, too. What they did is forgotten:
// the second run says it again.
func (t *tally) again(args []string) (again []string, owed []key) {
	var packages, tests []string
	for k := range t.parts {
		if t.ran.finished(k) {
			continue
		}
		packages, tests = append(packages, k.pkg), append(tests, top(k.test))
		owed = append(owed, k)
		delete(t.passed, k)
		delete(t.ended, k)
	}
	clear(t.parts)
	slices.Sort(packages)
	again = slices.DeleteFunc(slices.Clone(args), func(a string) bool {
		return a == "-race" || strings.HasPrefix(a, "./")
	})
	again = append(again, "-run", pattern(tests))
	return append(again, order(slices.Compact(packages))...), owed
}

// pattern returns the regular expression of these tests.
func pattern(tests []string) string {
	var quoted []string
	for _, test := range tests {
		quoted = append(quoted, regexp.QuoteMeta(test))
	}
	slices.Sort(quoted)
	return "^(" + strings.Join(slices.Compact(quoted), "|") + ")$"
}

// demandRun fails the tests that were to run again and did not.
func (t *tally) demandRun(owed []key) {
	for _, k := range owed {
		if !t.ended[k] && !slices.ContainsFunc(t.failed, func(f failure) bool { return f.key == k }) {
			t.fail(k, "was to run without the race detector, too, and did not")
		}
	}
}

// demandAll fails the tests that ran a part, where all was to run.
func (t *tally) demandAll() {
	for k, of := range t.parts {
		t.fail(k, "ran a part where all was to run: "+strings.Join(of, ", "))
	}
}

// nameParts writes which tests ran a part, and of what: a line for each package.
func (t *tally) nameParts() {
	of := map[string][]string{}
	for k, parts := range t.parts {
		for _, part := range parts {
			of[k.pkg] = append(of[k.pkg], k.test+" "+part)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(of)) {
		slices.Sort(of[pkg])
		fmt.Fprintf(t.out, "a part: %s: %s\n", pkg, strings.Join(of[pkg], ", "))
	}
}

// partly returns the end of the last line: how many tests ran a part.
func (t *tally) partly() string {
	if len(t.parts) == 0 {
		return ""
	}
	return fmt.Sprintf("; %d tests ran a part by selection, make prove runs all of them", len(t.parts))
}
