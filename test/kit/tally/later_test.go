package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// What starts no goroutine is left out of the run with the race detector and runs without it, once.
func TestSequentialPackagesRunWithoutTheRaceDetectorOnly(t *testing.T) {
	var plain held
	plain.take(`{"Action":"start","Package":"r"}
{"Action":"output","Package":"r","Output":"TestOne\n"}
{"Action":"output","Package":"r","Output":"BenchmarkOne\n"}
{"Action":"output","Package":"r","Output":"ok  \tr\t0.01s\n"}
`)
	all := []string{"p", "q", "r"}
	if got := fmt.Sprint(plain.leftOut(all)); got != "[p q]" {
		t.Errorf("the first run is given %s", got)
	}
	one := `{"Action":"pass","Package":"r","Test":"TestOne"}` + "\n"
	skips := `{"Action":"output","Package":"r","Test":"TestOne","Output":"    x.go:1: not run: real ZooKeeper (no java)\n"}
{"Action":"skip","Package":"r","Test":"TestOne"}
`
	for name, c := range map[string]struct {
		second string
		good   bool
		want   string
	}{
		"runs":         {allOfSome + one, true, "PASS: 3 passed, 0 failed"},
		"does not run": {allOfSome, false, "FAIL: r TestOne: was to run without the race detector, too, and did not\n"},
		"skips":        {allOfSome + skips, true, "PASS: 2 passed, 0 failed, 1 not run"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			sum := newTally(&b, false)
			sum.later = plain
			streams, ran := []string{partOfSome, c.second}, [][]string{}
			err := everything(sum, selection.Prove, raced, func(t *tally, args []string) error {
				if len(ran) == len(streams) {
					return errors.New("one run too many")
				}
				t.read(strings.NewReader(streams[len(ran)]))
				ran = append(ran, inPlaceOfAll(args, t.later.leftOut(all)))
				return nil
			})
			good := sum.end(err, time.Second)
			want := "[[-race -count=1 -v p q] [-count=1 -v -run ^(TestFew|TestHours|TestOne)$ p q r]]"
			if good != c.good || !strings.Contains(b.String(), c.want) || fmt.Sprint(ran) != want {
				t.Errorf("good %t, ran %q\n%s", good, ran, b.String())
			}
		})
	}
}

// A choice among the packages or tests is run with the race detector.
func TestAChoiceLeavesNothingForLater(t *testing.T) {
	for _, args := range [][]string{
		{"-race", "./machines"},
		{"-race", "-run", "TestX", "./..."},
		{"-race", "-run=TestX", "./..."},
		{"-race", "-test.skip=TestX", "./..."},
	} {
		if h, err := sequential(args); err != nil || len(h.packages) > 0 {
			t.Errorf("%q: %v leaves %q", args, err, h.packages)
		}
	}
}
