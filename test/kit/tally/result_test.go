package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// script returns the lines of go test -json in which a test writes these lines and ends so.
func script(test, action string, lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		data, _ := json.Marshal(event{Action: "output", Package: "p", Test: test, Output: line + "\n"})
		fmt.Fprintf(&b, "%s\n", data)
	}
	fmt.Fprintf(&b, `{"Action":%q,"Package":"p","Test":%q}`+"\n", action, test)
	return b.String()
}

func numbered(n int, what string) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%s %d", what, i))
	}
	return lines
}

// ending returns what a run writes after the last package: what a person reads who reads the end only.
func ending(t *testing.T, lines string) string {
	t.Helper()
	end := `{"Action":"output","Package":"p","Output":"FAIL\tp\t0.01s\n"}` + "\n" +
		`{"Action":"fail","Package":"p"}` + "\n"
	got, _ := tell(t, false, lines+end)
	_, got, ok := strings.Cut(got, "FAIL\tp\t0.01s\n"+resultFollows)
	if !ok {
		t.Fatalf("the package's line is missing:\n%s", got)
	}
	return got
}

func TestTheEndHasTheLastLinesOfEachFailure(t *testing.T) {
	got := ending(t, script("TestLong", "fail", numbered(100, "line")...)+script("TestFine", "pass", "fine")+
		script("TestOf/one", "fail", "one is wrong")+script("TestOf", "fail", "--- FAIL: TestOf"))
	want := "FAIL: p TestLong\n    " + strings.Join(numbered(100, "line")[60:], "\n    ") +
		"\nFAIL: p TestOf/one\n    one is wrong\nFAIL: 1 passed, 3 failed, 0 not run, in 0 packages and 1.2s\n" +
		"not run: nothing\n"
	if got != want {
		t.Errorf("the end is\n%s\nwant\n%s", got, want)
	}
}

// The goroutines of a process that crashed follow what it died of.
func TestACrashIsShownFromItsBeginning(t *testing.T) {
	for _, crash := range []string{"panic: index out of range", "fatal error: all goroutines are asleep",
		"WARNING: DATA RACE"} {
		lines := append([]string{"before", crash}, numbered(100, "goroutine")...)
		got := ending(t, `{"Action":"run","Package":"p","Test":"TestX"}`+"\n"+
			strings.Replace(script("TestX", "fail", lines...), `{"Action":"fail","Package":"p","Test":"TestX"}`, "", 1))
		if !strings.Contains(got, "FAIL: p TestX: did not end\n    "+crash+"\n    goroutine 0\n") ||
			strings.Contains(got, "goroutine 39") {
			t.Errorf("the end is\n%s", got)
		}
	}
}

// A build that failed says why at the end, too.
func TestABuildThatFailedIsShown(t *testing.T) {
	got, good := tell(t, false, `{"Action":"build-output","ImportPath":"p [p.test]","Output":"p.go:1: no such thing\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`)
	want := "FAIL: p: failed, and none of its tests did\n    p.go:1: no such thing\n    FAIL\tp [build failed]\n"
	if good || !strings.Contains(got, want) {
		t.Errorf("good %t, want %q in\n%s", good, want, got)
	}
}

// Many failures fit: the first have their lines, all are named.
func TestAllFailuresAreNamed(t *testing.T) {
	var lines strings.Builder
	for i := range 30 {
		lines.WriteString(script(fmt.Sprintf("Test%02d", i), "fail", fmt.Sprintf("because %d", i)))
	}
	got := ending(t, lines.String())
	if n := strings.Count(got, "FAIL: p Test"); n != 30 {
		t.Errorf("%d are named, of 30", n)
	}
	if n := strings.Count(got, "because"); n != shownFailures {
		t.Errorf("%d have their lines, want %d", n, shownFailures)
	}
}

// A round that was begun again is named, also in a test that passed.
func TestRoundsThatWereBegunAgainAreNamed(t *testing.T) {
	got := ending(t, script("TestReal", "pass", "    x.go:1: begun again: round 2: the process did not run for 3s")+
		script("TestBad", "fail", "no"))
	want := "begun again: p TestReal: round 2: the process did not run for 3s\nbegun again in all: 1\nFAIL: 1 " +
		"passed, 1 failed"
	if !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
}
