package upgrade

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// difference is a place where a recording differs from another: lines that begin with "- " are only in the first, those with
// "+ " only in the second.
type difference []string

// differences compares two recordings line by line.
func differences(was, is []string) (all []difference) {
	longest := common(was, is)
	var now difference
	end := func() {
		if len(now) > 0 {
			all, now = append(all, now), nil
		}
	}
	i, j := 0, 0
	for i < len(was) || j < len(is) {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			end()
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && longest[i+1][j] >= longest[i][j+1]:
			now = append(now, "- "+was[i])
			i++
		default:
			now = append(now, "+ "+is[j])
			j++
		}
	}
	end()
	return all
}

// common returns, for each pair of ends, how many lines they have in common in the same order.
func common(was, is []string) [][]int {
	longest := make([][]int, len(was)+1)
	for i := range longest {
		longest[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i] == is[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	return longest
}

// explained is a difference that is known, and why each version understands what the other does.
type explained struct {
	script    string
	why       string
	sometimes bool // it depends on time
	difference
}

// parseExplained reads blocks of "script NAME", "why SENTENCE" and the lines of a difference, with a blank line between blocks.
// With "sometimes" instead of "why", a run need not have it. What begins with # is for readers.
func parseExplained(text string) (all []explained, err error) {
	for _, block := range strings.Split(text, "\n\n") {
		var e explained
		for _, l := range strings.Split(strings.TrimSpace(block), "\n") {
			word, rest, _ := strings.Cut(l, " ")
			switch {
			case word == "script":
				e.script = rest
			case word == "why" || word == "sometimes":
				e.why, e.sometimes = rest, word == "sometimes"
			case word == "-" || word == "+":
				e.difference = append(e.difference, l)
			case l != "" && word != "#":
				return nil, fmt.Errorf("a line that is neither script, why, a difference nor a remark: %q", l)
			}
		}
		switch {
		case e.script == "" && e.why == "" && e.difference == nil:
		case e.script == "" || len(strings.Fields(e.why)) < 5 || e.difference == nil:
			return nil, fmt.Errorf("a difference needs a script, a sentence that says why, and lines: %q", block)
		default:
			all = append(all, e)
		}
	}
	return all, nil
}

const explanations = "testdata/differences"

// explain returns what is known of a script.
func explain(t testing.TB, name string) (known []explained) {
	t.Helper()
	text, err := os.ReadFile(explanations)
	ok(t, err)
	all, err := parseExplained(string(text))
	ok(t, err)
	for _, e := range all {
		if e.script == name {
			known = append(known, e)
		}
		if !slices.ContainsFunc(scripts, func(s script) bool { return s.name == e.script }) {
			t.Errorf("%s explains the script %q, which is not there", explanations, e.script)
		}
	}
	return known
}

// unexplained returns the differences that are not known, and what is known and does not happen any more.
func unexplained(found []difference, known []explained) (news []difference, stale []explained) {
	used := make([]bool, len(known))
	for _, d := range found {
		i := slices.IndexFunc(known, func(e explained) bool { return slices.Equal(e.difference, d) })
		if i < 0 {
			news = append(news, d)
		} else {
			used[i] = true
		}
	}
	for i, e := range known {
		if !used[i] && !e.sometimes {
			stale = append(stale, e)
		}
	}
	return news, stale
}

// Each kind of mistake in what is known is found, so that the comparison can fail.
func TestDifferencesAreFound(t *testing.T) {
	was, is := strings.Split("1 2 3 4 5 6", " "), strings.Split("1 2 x 4 6 7", " ")
	found := differences(was, is)
	want := []difference{{"- 3", "+ x"}, {"- 5"}, {"+ 7"}}
	if !slices.EqualFunc(found, want, slices.Equal) {
		t.Fatalf("%q, want %q", found, want)
	}
	known, err := parseExplained("# a remark\nscript s\nwhy nobody reads 3 or x at all\n- 3\n+ x\n\nscript s\nwhy nobody reads 8 or 9 either\n- 8\n\nscript s\nsometimes it depends on time whether 9 is read\n- 9\n")
	ok(t, err)
	news, stale := unexplained(found, known)
	if len(news) != 2 || len(stale) != 1 || stale[0].difference[0] != "- 8" {
		t.Errorf("unexplained %q, stale %v", news, stale)
	}
	for _, wrong := range []string{"script s\nwhy short\n- 3", "why no script is named for it\n- 3", "script s\nwhy it has no lines of a difference", "script s\nbecause\n- 3"} {
		if _, err := parseExplained(wrong); err == nil {
			t.Errorf("nothing is wrong with %q", wrong)
		}
	}
}
