package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

const asOnAFreshMachine = `{"Action":"pass","Package":"full","Test":"TestA"}
{"Action":"pass","Package":"full"}
{"Action":"pass","Package":"some","Test":"TestA"}
{"Action":"output","Package":"some","Test":"TestPart/x","Output":"    p_test.go:1: selected: 5 of 100 worlds\n"}
{"Action":"pass","Package":"some","Test":"TestPart/x"}
{"Action":"output","Package":"some","Test":"TestReal/y","Output":"    p_test.go:1: not run: real ZooKeeper (no java)\n"}
{"Action":"skip","Package":"some","Test":"TestReal/y"}
{"Action":"pass","Package":"some"}
{"Action":"fail","Package":"bad","Test":"TestA"}
{"Action":"fail","Package":"bad"}
`

// before plays a run as on a fresh machine and returns the file that it leaves.
func before(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "ran")
	fresh := newTally(t.Output(), false)
	end, err := fresh.connect(selection.Test, []string{"./..."}, file)
	if err != nil {
		t.Fatal(err)
	}
	fresh.read(strings.NewReader(asOnAFreshMachine))
	if err := end(); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAProofRunsWhatDidNotRunInFull(t *testing.T) {
	proof := newTally(t.Output(), true)
	if _, err := proof.connect(selection.Prove, raced, before(t)); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(proof.left(raced, []string{"new", "full", "some", "bad"}))
	if want := "[[-count=1 -v new bad] [-count=1 -v some -run ^(TestPart|TestReal)$]]"; got != want {
		t.Errorf("go test is given\n\t%s\nwant\n\t%s", got, want)
	}
	if got := proof.left(raced, []string{"full"}); got != nil {
		t.Errorf("nothing is left of a package, and go test is given %s", got)
	}
	// Under the race detector both ran a part. One of them had run in full without it.
	for _, k := range []key{{"some", "TestA/z"}, {"some", "TestPart/x"}, {"new", "TestA"}} {
		proof.parts[k] = []string{"1 of 2"}
	}
	again, owed := proof.again(raced)
	if want := "[-count=1 -v -run ^(TestA|TestPart)$ new some]"; fmt.Sprint(again) != want || len(owed) != 2 {
		t.Errorf("runs again %s, of which %s are owed; want %s", again, owed, want)
	}
}

// A run of some tests, one under the race detector, and a proof leave no file. Some tests of a proof run in any case.
func TestOnlyAWholeRunCounts(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ran")
	for _, c := range []struct {
		level selection.Level
		args  []string
	}{
		{selection.Test, []string{"-run", "TestA", "./..."}},
		{selection.Test, raced},
		{selection.Prove, raced},
	} {
		one := newTally(t.Output(), false)
		end, err := one.connect(c.level, c.args, file)
		if err != nil || one.ran != nil {
			t.Fatal(err, one.ran)
		}
		one.read(strings.NewReader(asOnAFreshMachine))
		if err := end(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s %s left a file", c.level, c.args)
		}
	}
	some := newTally(t.Output(), true)
	if _, err := some.connect(selection.Prove, []string{"-race", "-run=TestA", "./..."}, before(t)); err != nil ||
		some.ran != nil {
		t.Errorf("some tests: %v, %v", some.ran, err)
	}
}
