//go:build unix

package suites

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// side is what a suite gave against one kind of server.
type side struct {
	server  string
	results results
}

// comparison is what a suite gave against several kinds of servers.
type comparison struct {
	suite string
	sides []side
}

// reason says why a test, or every test whose name begins so, fails somewhere.
type reason struct {
	suite, test, why string
	used             bool
}

// sometimes begins the reason for a test that passes in one run and fails in another.
const sometimes = "sometimes: "

// parseReasons reads lines of a suite's name, a test's name and a reason, separated by tabs. A name that ends in *
// stands for every name that begins so.
func parseReasons(text string) (all []*reason) {
	for line := range strings.Lines(text) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) == 3 {
			all = append(all, &reason{suite: parts[0], test: parts[1], why: parts[2]})
		}
	}
	return all
}

func (r *reason) fits(suite, test string) bool {
	prefix, open := strings.CutSuffix(r.test, "*")
	return r.suite == suite && (r.test == test || open && strings.HasPrefix(test, prefix))
}

// difference is a test that did not pass everywhere though it ran somewhere.
type difference struct {
	suite, test string
	outcomes    []outcome
	why         string
}

// differences returns the tests that differ between the sides or fail on all, each with its reason, and what is wrong:
// tests without a reason, and reasons without a test.
func differences(all []comparison, reasons []*reason) (found []difference, wrong []string) {
	for _, c := range all {
		for _, test := range c.tests() {
			outcomes := c.outcomes(test)
			if same(outcomes) && outcomes[0] != failed {
				continue
			}
			d := difference{suite: c.suite, test: test, outcomes: outcomes}
			if i := slices.IndexFunc(reasons, func(r *reason) bool { return r.fits(c.suite, test) }); i >= 0 {
				d.why, reasons[i].used = reasons[i].why, true
			} else {
				wrong = append(wrong,
					fmt.Sprintf("%s: %s is %v, for no reason that testdata/reasons.tsv has", c.suite, test, outcomes))
			}
			found = append(found, d)
		}
	}
	for _, r := range reasons {
		if !r.used && !strings.HasPrefix(r.why, sometimes) {
			wrong = append(wrong,
				fmt.Sprintf("%s: %s has a reason in testdata/reasons.tsv, and does not differ", r.suite, r.test))
		}
	}
	return found, wrong
}

// tests returns the names of all tests that ran on any side.
func (c comparison) tests() []string {
	names := map[string]bool{}
	for _, s := range c.sides {
		for name := range s.results {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func (c comparison) outcomes(test string) (all []outcome) {
	for _, s := range c.sides {
		all = append(all, s.results.of(test))
	}
	return all
}

func same(outcomes []outcome) bool { return len(slices.Compact(slices.Clone(outcomes))) == 1 }

// tables returns the tables of the page. What fails now and then has its reason in testdata/reasons.tsv alone.
func tables(all []comparison, found []difference) string {
	var b strings.Builder
	b.WriteString("| suite | against | tests | passed | failed | skipped |\n|---|---|--:|--:|--:|--:|\n")
	for _, c := range all {
		for _, s := range c.sides {
			r := s.results
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", c.suite, s.server,
				len(r), r.count(passed), r.count(failed), r.count(skipped))
		}
	}
	found = slices.DeleteFunc(slices.Clone(found), func(d difference) bool {
		return strings.HasPrefix(d.why, sometimes)
	})
	if len(found) == 0 {
		return b.String()
	}
	b.WriteString("\n| suite | test | against zkmem | against ZooKeeper | why |\n|---|---|---|---|---|\n")
	for _, d := range found {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s |\n", d.suite, d.test, d.outcomes[0], d.outcomes[1], d.why)
	}
	return b.String()
}

// The marks between which the tables stand in the page.
const begins, ends = "<!-- suites -->\n", "<!-- /suites -->"

// between returns the page with a text between its marks.
func between(page, text string) (string, error) {
	before, rest, ok := strings.Cut(page, begins)
	_, after, ended := strings.Cut(rest, ends)
	if !ok || !ended {
		return "", errors.New("there are no marks " + strings.TrimSpace(begins) + " and " + ends)
	}
	return before + begins + text + ends + after, nil
}
