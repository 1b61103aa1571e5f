//go:build unix

package suites

import (
	"strings"
	"testing"
	"time"
)

func TestAReportOfPytest(t *testing.T) {
	const report = `<?xml version="1.0"?><testsuites><testsuite name="pytest">
<testcase classname="test_a.TestA" name="test_one" time="0.5"/>
<testcase classname="test_a.TestA" name="test_two" time="1"><failure message="no">long</failure></testcase>
<testcase classname="test_a.TestA" name="test_two" time="0"/>
<testcase classname="test_a.TestA" name="test_three" time="1"/>
<testcase classname="test_a.TestA" name="test_three" time="1"><error message="in tearDown"></error></testcase>
<testcase classname="test_b" name="test_four" time="0"><skipped message="not here"/></testcase>
</testsuite></testsuites>`
	all, err := parseJUnit([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	for test, want := range map[string]outcome{"test_a.TestA.test_one": passed, "test_a.TestA.test_two": failed,
		"test_a.TestA.test_three": failed, "test_b.test_four": skipped, "test_b.test_five": absent} {
		if got := all.of(test); got != want {
			t.Errorf("%s is %s, want %s", test, got, want)
		}
	}
	if one := all["test_a.TestA.test_one"]; one.took != time.Second/2 {
		t.Error(one.took)
	}
	if one := all["test_a.TestA.test_two"]; one.said != "no\nlong" {
		t.Errorf("%q", one.said)
	}
	if _, err := parseJUnit([]byte("killed")); err == nil {
		t.Error("no error for a report that is none")
	}
	if got, want := pytestID("test_a.TestA.test_one"), "test_a.py::TestA::test_one"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTheOutputOfGoTests(t *testing.T) {
	const said = `=== RUN   TestOne
--- PASS: TestOne (0.25s)
=== RUN   TestTwo
=== RUN   TestTwo/part
    x_test.go:1: wrong
--- FAIL: TestTwo (1.00s)
    --- FAIL: TestTwo/part (1.00s)
=== RUN   TestThree
--- SKIP: TestThree (0.00s)
    x_test.go:2: not here
=== RUN   TestFour
panic: oh
`
	all := parseGo(said)
	for test, want := range map[string]outcome{"TestOne": passed, "TestTwo": failed, "TestThree": skipped,
		"TestFour": failed, "TestFive": absent} {
		if got := all.of(test); got != want {
			t.Errorf("%s is %s, want %s", test, got, want)
		}
	}
	if len(all) != 4 || all["TestOne"].took != time.Second/4 {
		t.Errorf("%v", all)
	}
	if said := all["TestTwo"].said; !strings.Contains(said, "wrong") || strings.Contains(said, "TestThree") {
		t.Errorf("%q", said)
	}
}
