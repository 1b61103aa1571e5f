package house

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	testCommand = regexp.MustCompile("go test ([^`\n]*)")
	chosenTests = regexp.MustCompile(`-(?:run|bench) '?\^?\(?([A-Za-z_|]{5,})`)
	testFolder  = regexp.MustCompile(`^(\./[\w/]+|\.)$`)
	testName    = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Example|Fuzz)\w*)\(`)
)

// commandFaults returns the commands of a page that choose tests which none of their folders has.
func commandFaults(text string, tests map[string][]string) (wrong []string) {
	for _, m := range testCommand.FindAllStringSubmatch(text, -1) {
		var has []string
		folders := 0
		for _, word := range strings.Fields(m[1]) {
			if testFolder.MatchString(word) {
				folders, has = folders+1, append(has, tests[path.Clean(word)]...)
			}
		}
		chosen := chosenTests.FindStringSubmatch(m[1])
		if folders == 0 || chosen == nil {
			continue
		}
		for _, one := range strings.Split(chosen[1], "|") {
			if !slices.ContainsFunc(has, func(name string) bool { return strings.Contains(name, one) }) {
				wrong = append(wrong, m[0]+": no test there is called "+one)
			}
		}
	}
	return wrong
}

// A reader who repeats a figure runs the tests that the page names.
func TestCommandsInDocsNameTests(t *testing.T) {
	tests := map[string][]string{}
	err := walk(func(file, text string) error {
		if strings.HasSuffix(file, "_test.go") {
			for _, m := range testName.FindAllStringSubmatch(text, -1) {
				tests[path.Dir(file)] = append(tests[path.Dir(file)], m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range pages(t) {
		if path.Dir(name) != "docs" || name == "docs/testing.md" { // whose commands are for the reader's own folder
			continue
		}
		for _, wrong := range commandFaults(text, tests) {
			t.Errorf("%s: %s", name, wrong)
		}
	}
	made := map[string][]string{"a/b": {"TestOne"}, ".": {"TestTwo"}}
	page := "`go test ./a/b -run 'TestOne|TestTwo'`, `go test -run TestTwo .`, `go test -run xxx -bench TestTwo ./a/b`"
	if got := commandFaults(page, made); len(got) != 2 {
		t.Errorf("found %q in the breach", got)
	}
}
