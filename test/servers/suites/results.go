//go:build unix

package suites

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome is how a test ended.
type outcome string

const (
	passed  outcome = "passed"
	failed  outcome = "failed"
	skipped outcome = "skipped"
	absent  outcome = "not run"
)

// result is the outcome of one test.
type result struct {
	outcome outcome
	took    time.Duration
	said    string // by a test that failed, or was skipped
}

// results are those of a suite, by the test's name.
type results map[string]result

// of returns the outcome of a test.
func (r results) of(test string) outcome {
	if one, ok := r[test]; ok {
		return one.outcome
	}
	return absent
}

// without returns those of the tests that did not end so.
func (r results) without(tests []string, o outcome) (others []string) {
	for _, test := range tests {
		if r.of(test) != o {
			others = append(others, test)
		}
	}
	return others
}

// count returns how many tests ended so.
func (r results) count(o outcome) (n int) {
	for _, one := range r {
		if one.outcome == o {
			n++
		}
	}
	return n
}

// junit is the part of a report of pytest, or of JUnit's, that is read here.
type junit struct {
	Pytest []testCase `xml:"testsuite>testcase"`
	JUnit  []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    float64  `xml:"time,attr"`
	Failure *message `xml:"failure"`
	Error   *message `xml:"error"`
	Skipped *message `xml:"skipped"`
}

type message struct {
	Text string `xml:"message,attr"`
	Long string `xml:",chardata"`
}

// parseJUnit reads a report of pytest or JUnit. A test that has two entries, one for an error in its tearDown, has
// failed.
func parseJUnit(text []byte) (results, error) {
	var report junit
	if err := xml.Unmarshal(text, &report); err != nil {
		return nil, fmt.Errorf("the report of the tests: %w", err)
	}
	all := results{}
	for _, c := range append(report.Pytest, report.JUnit...) {
		one := result{outcome: passed, took: time.Duration(c.Time * float64(time.Second))}
		switch {
		case c.Failure != nil:
			one.outcome, one.said = failed, c.Failure.Text+"\n"+c.Failure.Long
		case c.Error != nil:
			one.outcome, one.said = failed, c.Error.Text+"\n"+c.Error.Long
		case c.Skipped != nil:
			one.outcome, one.said = skipped, c.Skipped.Text
		}
		name := c.Class + "." + strings.TrimSuffix(c.Name, "()")
		if all.of(name) != failed {
			all[name] = one
		}
	}
	return all, nil
}

var (
	goBegun = regexp.MustCompile(`(?m)^=== RUN   (\w+)\n`)
	goEnded = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\w+) \(([0-9.]+)s\)$`)
)

// parseGo reads what a test binary printed with -test.v. A test that began and did not end has failed, as has the one
// that ended the whole binary.
func parseGo(text string) results {
	all := results{}
	for _, begun := range goBegun.FindAllStringSubmatchIndex(text, -1) {
		name, rest := text[begun[2]:begun[3]], text[begun[1]:]
		all[name] = result{outcome: failed, said: rest}
		for _, ended := range goEnded.FindAllStringSubmatchIndex(rest, -1) {
			if rest[ended[4]:ended[5]] == name {
				seconds, _ := strconv.ParseFloat(rest[ended[6]:ended[7]], 64) // it has the form of a number
				all[name] = result{goOutcomes[rest[ended[2]:ended[3]]], time.Duration(seconds * float64(time.Second)),
					rest[:ended[0]]}
				break
			}
		}
	}
	return all
}

var goOutcomes = map[string]outcome{"PASS": passed, "FAIL": failed, "SKIP": skipped}
