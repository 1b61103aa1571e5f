package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// What the end of a run shows: so that one screen says why it is red.
const (
	shownLines    = 40 // of each test that failed
	shownFailures = 10 // with their lines; all others are named
)

// lastLines returns a copy of the last lines, or of the first from a panic or a race on: goroutines follow those.
func lastLines(said []string) []string {
	lines := strings.SplitAfter(strings.TrimSuffix(strings.Join(said, ""), "\n"), "\n")
	if crash := slices.IndexFunc(lines, isCrash); crash >= 0 {
		lines = lines[crash:]
		return slices.Clone(lines[:min(len(lines), shownLines)])
	}
	return slices.Clone(lines[max(0, len(lines)-shownLines):])
}

func isCrash(line string) bool {
	for _, begins := range []string{"panic: ", "fatal error: ", "WARNING: DATA RACE"} {
		if strings.HasPrefix(line, begins) {
			return true
		}
	}
	return false
}

// resultFollows is the line before the result: .ci/run repeats what stands after it.
const resultFollows = "== result\n"

// showFailures writes what failed, with the last lines of each test. A test whose subtest failed is left out:
// the subtest says why.
func (t *tally) showFailures() {
	slices.SortFunc(t.failed, func(a, b failure) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	shown := 0
	for _, f := range t.failed {
		if f.why != "" {
			fmt.Fprintf(t.out, "FAIL: %s: %s\n", f.key, f.why)
		} else if !t.subtestFailed(f.key) {
			fmt.Fprintf(t.out, "FAIL: %s\n", f.key)
		}
		if shown < shownFailures && len(f.said) > 0 && !t.subtestFailed(f.key) {
			fmt.Fprintf(t.out, "    %s\n", strings.TrimRight(strings.Join(f.said, "    "), "\n"))
			shown++
		}
	}
}

func (t *tally) subtestFailed(k key) bool {
	return k.test != "" && slices.ContainsFunc(t.failed, func(f failure) bool {
		return f.pkg == k.pkg && strings.HasPrefix(f.test, k.test+"/")
	})
}

func (k key) String() string { return strings.TrimSpace(k.pkg + " " + k.test) }

// begunAgain is how a test says that it began a round again: the machine had kept the process from running, or the
// promise under test allows for what happened.
const begunAgain = "begun again: "

// takeBegunAgain keeps such a line of a test, whether the test passes or not.
func (t *tally) takeBegunAgain(k key, line string) {
	if _, what, ok := strings.Cut(line, begunAgain); ok {
		t.begun = append(t.begun, fmt.Sprintf("%s: %s", k, strings.TrimSpace(what)))
	}
}

// showBegunAgain writes each round that was begun again, and how many.
func (t *tally) showBegunAgain() {
	for _, what := range t.begun {
		fmt.Fprintf(t.out, "%s%s\n", begunAgain, what)
	}
	if len(t.begun) > 0 {
		fmt.Fprintf(t.out, "begun again in all: %d\n", len(t.begun))
	}
}
