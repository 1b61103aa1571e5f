//go:build unix

package suites

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/reasons.tsv
var reasonTable string

const page = "../../../docs/proofs.md"

// writePage writes the tables into the page and returns what is wrong with the reasons.
func writePage(t *testing.T, all []comparison) []string {
	t.Helper()
	found, wrong := differences(all, parseReasons(reasonTable))
	text := tables(all, found)
	t.Log("\n" + text)
	old, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	written, err := between(string(old), text)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
		t.Fatal(err)
	}
	return wrong
}

// listing returns a line for each test of a side, and what those that did not pass said.
func listing(suite string, s side) string {
	var b strings.Builder
	for _, test := range (comparison{sides: []side{s}}).tests() {
		one := s.results[test]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", s.server, suite, test, one.outcome, one.took.Round(time.Millisecond))
		if one.outcome != passed {
			b.WriteString(one.said + "\n")
		}
	}
	return b.String()
}

func TestDifferences(t *testing.T) {
	all := []comparison{{"kazoo", []side{
		{"zkmem", results{
			"a.same": {outcome: passed}, "a.ours": {outcome: failed}, "b.one": {outcome: failed},
			"c.both": {outcome: failed}, "d.skip": {outcome: skipped},
		}},
		{"ZooKeeper", results{
			"a.same": {outcome: passed}, "a.ours": {outcome: passed}, "b.one": {outcome: passed},
			"c.both": {outcome: failed}, "d.skip": {outcome: skipped},
		}},
	}}}
	found, wrong := differences(all,
		parseReasons("kazoo\ta.ours\twe have none\nkazoo\tb.*\tsometimes: a race\nother\tc.both\tof another suite\n"+
			"kazoo\td.*\tsometimes: not now\n"))
	want := []string{"a.ours we have none", "b.one sometimes: a race", "c.both "}
	var got []string
	for _, d := range found {
		got = append(got, d.test+" "+d.why)
	}
	if !slices.Equal(got, want) {
		t.Errorf("differences %q, want %q", got, want)
	}
	if len(wrong) != 2 || !strings.Contains(wrong[0], "c.both") || !strings.Contains(wrong[1], "c.both") {
		t.Errorf("wrong is %q", wrong)
	}
	text := tables(all, found)
	for _, line := range []string{"| kazoo | zkmem | 5 | 1 | 3 | 1 |", "| kazoo | ZooKeeper | 5 | 3 | 1 | 1 |",
		"| kazoo | `a.ours` | failed | passed | we have none |"} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	if strings.Contains(text, "b.one") {
		t.Errorf("what fails now and then is in\n%s", text)
	}
	if got, err := between("a\n"+begins+"old\n"+ends+"\nb\n", "new\n"); err != nil ||
		got != "a\n"+begins+"new\n"+ends+"\nb\n" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := between("a\n", "new\n"); err == nil {
		t.Error("a page without marks was written")
	}
}
