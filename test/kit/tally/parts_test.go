package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

const (
	partOfSome = `{"Action":"output","Package":"p","Test":"TestFew/a",` +
		`"Output":"    p_test.go:1: selected: 5 of 100 worlds\n"}
{"Action":"pass","Package":"p","Test":"TestFew/a"}
{"Action":"output","Package":"q","Test":"TestHours","Output":"    q_test.go:1: selected: 1h0m0s of 4h0m0s, virtual\n"}
{"Action":"pass","Package":"q","Test":"TestHours"}
`
	allOfSome = `{"Action":"pass","Package":"p","Test":"TestFew/a"}
{"Action":"pass","Package":"q","Test":"TestHours"}
`
)

// prove plays make prove with runs that print these streams. It returns the text that it
// prints, whether all went well, and the arguments of each run.
func prove(level selection.Level, args []string, streams ...string) (text string, good bool, ran [][]string) {
	var b strings.Builder
	t := newTally(&b, true)
	err := everything(t, level, args, func(t *tally, args []string) error {
		if len(ran) == len(streams) {
			return errors.New("one run too many")
		}
		t.read(strings.NewReader(streams[len(ran)]))
		ran = append(ran, args)
		return nil
	})
	good = t.end(err, time.Second)
	return b.String(), good, ran
}

var raced = []string{"-race", "-count=1", "-v", "./..."}

func TestTheLastLineSaysHowManyRanAPart(t *testing.T) {
	text, good, ran := prove(selection.Test, raced, partOfSome)
	want := resultFollows + "a part: p: TestFew/a 5 of 100 worlds\na part: q: TestHours 1h0m0s of 4h0m0s, virtual\n" +
		"PASS: 2 passed, 0 failed, 0 not run, in 0 packages and 1s\n" +
		"not run: nothing; 2 tests ran a part by selection, make prove runs all of them\n"
	if !good || text != want || len(ran) != 1 {
		t.Errorf("good %t, %d runs\n%s", good, len(ran), text)
	}
}

func TestWhatRanAPartWithTheRaceDetectorRunsAgainWithoutIt(t *testing.T) {
	text, good, ran := prove(selection.Prove, raced, partOfSome, allOfSome)
	want := [][]string{raced, {"-count=1", "-v", "-run", "^(TestFew|TestHours)$", "p", "q"}}
	if fmt.Sprint(ran) != fmt.Sprint(want) {
		t.Errorf("ran %q", ran)
	}
	if !good || !strings.HasPrefix(text, resultFollows+"PASS: 2 passed") ||
		!strings.HasSuffix(text, "not run: nothing\n") {
		t.Errorf("good %t\n%s", good, text)
	}
}

// Where everything is to run, a part is a failure, and so is a test of which there is no second run.
func TestProveLeavesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		streams []string
		want    string
	}{
		"a part without the race detector": {raced[1:], []string{partOfSome},
			"FAIL: q TestHours: ran a part where all was to run: 1h0m0s of 4h0m0s, virtual\n"},
		"a part in the second run, too": {raced, []string{partOfSome, partOfSome},
			"FAIL: p TestFew/a: ran a part where all was to run: 5 of 100 worlds\n"},
		"no second run": {raced, []string{partOfSome, strings.Split(allOfSome, "\n")[0]},
			"FAIL: q TestHours: was to run without the race detector, too, and did not\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text, good, ran := prove(selection.Prove, c.args, c.streams...)
			if good || !strings.Contains(text, c.want) || len(ran) != len(c.streams) {
				t.Errorf("good %t, %d runs\n%s", good, len(ran), text)
			}
		})
	}
	if _, good, ran := prove(selection.Prove, raced, allOfSome); !good || len(ran) != 1 {
		t.Errorf("nothing ran a part: good %t, %d runs", good, len(ran))
	}
	if !slices.Contains(raced, "-race") {
		t.Error("the arguments were changed")
	}
}

// What is not run at all is said once.
func TestATestThatSkipsRanNoPart(t *testing.T) {
	text, good, _ := prove(selection.Test, raced,
		`{"Action":"output","Package":"p","Test":"TestReal","Output":"    p_test.go:1: selected: 20 s of 90 s\n"}
{"Action":"output","Package":"p","Test":"TestReal","Output":"    p_test.go:2: not run: real ZooKeeper (no java)\n"}
{"Action":"skip","Package":"p","Test":"TestReal"}
`)
	if good || strings.Contains(text, "a part") || !strings.HasSuffix(text, "not run: real ZooKeeper (no java) [1]\n") {
		t.Errorf("good %t\n%s", good, text)
	}
}

func TestTheEnvironmentOfGoTest(t *testing.T) {
	last := func(env []string, name string) (value string) {
		for _, entry := range env {
			if v, ok := strings.CutPrefix(entry, name+"="); ok {
				value = v
			}
		}
		return value
	}
	t.Setenv("CGO_ENABLED", "1")
	for given, want := range map[string]string{"": "400", "50": "50"} {
		t.Setenv("GOGC", given)
		with, without := environment(raced), environment(raced[1:])
		if last(with, "GOGC") != want || last(without, "GOGC") != want {
			t.Errorf("GOGC=%q became %q and %q", given, last(with, "GOGC"), last(without, "GOGC"))
		}
		if last(with, "CGO_ENABLED") != "1" || last(without, "CGO_ENABLED") != "0" {
			t.Errorf("cgo: %q with the race detector, %q without", last(with, "CGO_ENABLED"),
				last(without, "CGO_ENABLED"))
		}
	}
}
