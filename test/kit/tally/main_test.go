package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const stream = `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestReal","Output":"    realzk.go:110: not run: real ZooKeeper (no java)\n"}
{"Action":"skip","Package":"p","Test":"TestReal"}
{"Action":"output","Package":"p","Test":"TestReal2","Output":"    realzk.go:110: not run: real ZooKeeper (no java)\n"}
{"Action":"skip","Package":"p","Test":"TestReal2"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.01s\n"}
{"Action":"pass","Package":"p"}
{"Action":"output","Package":"none","Output":"?   \tnone\t[no test files]\n"}
{"Action":"skip","Package":"none"}
`

func tell(t *testing.T, require bool, lines string) (text string, good bool) {
	t.Helper()
	var b strings.Builder
	tally := newTally(&b, require)
	tally.read(strings.NewReader(lines))
	good = tally.end(nil, 1200*time.Millisecond)
	return b.String(), good
}

func TestTheLastLineSaysWhatWasNotRun(t *testing.T) {
	got, good := tell(t, false, stream)
	want := "ok  \tp\t0.01s\n" + resultFollows +
		"PASS: 1 passed, 0 failed, 2 not run, in 1 packages and 1.2s\n" +
		"not run: real ZooKeeper (no java) [2]\n"
	if got != want || !good {
		t.Fatalf("%v\n%s", good, got)
	}
}

func TestNothingWasLeftOut(t *testing.T) {
	got, good := tell(t, true, `{"Action":"pass","Package":"p","Test":"TestGood"}`+"\n")
	if !good || !strings.HasSuffix(got, "\nnot run: nothing\n") {
		t.Fatalf("%v\n%s", good, got)
	}
}

func TestWhereEverythingIsRequiredASkipIsAFailure(t *testing.T) {
	got, good := tell(t, true, stream)
	if good || !strings.Contains(got, "FAIL: p TestReal: not run: real ZooKeeper (no java)\n") ||
		!strings.Contains(got, "FAIL: 1 passed, 2 failed, 2 not run") {
		t.Fatalf("%v\n%s", good, got)
	}
}

func TestASkipMustSayWhy(t *testing.T) {
	got, good := tell(t, false, `{"Action":"output","Package":"p","Test":"TestLazy","Output":"    x.go:1: later\n"}
{"Action":"skip","Package":"p","Test":"TestLazy"}
`)
	if good || !strings.Contains(got, "FAIL: p TestLazy: skips without") {
		t.Fatalf("%v\n%s", good, got)
	}
}

// What a failing test said is shown, also when it never ended, and what go build said.
func TestFailuresAreShown(t *testing.T) {
	got, good := tell(t, false, `{"Action":"build-output","ImportPath":"q","Output":"q.go:1: no\n"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    p.go:1: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"run","Package":"p","Test":"TestHangs"}
{"Action":"output","Package":"p","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.01s\n"}
{"Action":"fail","Package":"p"}
`)
	if good {
		t.Fatal("good?", got)
	}
	for _, want := range []string{"q.go:1: no\n", "p.go:1: wrong\n", "test timed out\n", "FAIL\tp\t0.01s\n",
		"FAIL: p TestHangs: did not end\n", "FAIL: 0 passed, 2 failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}

// A package can fail after all its tests have passed: goleak, TestMain, a build, a go test that does not even begin.
func TestWhatFailsWithoutATestIsCountedAndNamed(t *testing.T) {
	passes := `{"Action":"run","Package":"p","Test":"TestGood"}
{"Action":"pass","Package":"p","Test":"TestGood"}
`
	for name, c := range map[string]struct {
		lines string
		err   error
		want  []string
	}{
		"a package whose tests passed": {
			passes + `{"Action":"output","Package":"p","Output":"goleak: Errors on successful test run\n"}
{"Action":"fail","Package":"p"}` + "\n", errors.New("exit status 1"),
			[]string{"goleak: Errors on successful test run\n", "FAIL: p: failed, and none of its tests did\n",
				"FAIL: 1 passed, 1 failed, 0 not run, in 0 packages"},
		},
		"a package that does not build": {
			passes + `{"Action":"build-output","ImportPath":"q","Output":"q.go:1: no\n"}
{"Action":"build-fail","ImportPath":"q"}
{"Action":"output","Package":"q","Output":"FAIL\tq [build failed]\n"}
{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n", errors.New("exit status 1"),
			[]string{"q.go:1: no\n", "FAIL: q: failed, and none of its tests did\n", "FAIL: 1 passed, 1 failed"},
		},
		"go test alone": {
			passes, errors.New("exit status 2"),
			[]string{"FAIL: go test: exit status 2, and no package failed\n", "FAIL: 1 passed, 1 failed"},
		},
		"another package's test": {
			passes + `{"Action":"fail","Package":"q","Test":"TestBad"}
{"Action":"fail","Package":"q"}
{"Action":"fail","Package":"p"}` + "\n", errors.New("exit status 1"),
			[]string{"FAIL: p: failed, and none of its tests did\n", "FAIL: 1 passed, 2 failed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			tally := newTally(&b, false)
			tally.read(strings.NewReader(c.lines))
			if tally.end(c.err, time.Second) {
				t.Error("good?")
			}
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is missing in\n%s", want, b.String())
				}
			}
			if strings.Contains(b.String(), "PASS:") || strings.Contains(b.String(), " 0 failed") {
				t.Error(b.String())
			}
		})
	}
}

// What failed for want of something is also listed as not run.
func TestWhatIsRequiredAndMissingIsNotRun(t *testing.T) {
	got, good := tell(t, true,
		`{"Action":"output","Package":"p","Test":"TestReal","Output":"    x.go:1: not run: real ZooKeeper (no java)\n"}
{"Action":"fail","Package":"p","Test":"TestReal"}
{"Action":"fail","Package":"p"}
`)
	if good ||
		!strings.HasSuffix(got, "FAIL: 0 passed, 1 failed, 0 not run, in 0 packages and 1.2s\nnot run: real ZooKeeper "+
			"(no java) [1]\n") {
		t.Fatalf("%v\n%s", good, got)
	}
}
