package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// held is what a run with the race detector leaves to the run without it: the packages
// that start no goroutine, and those that test programs.
type held struct {
	packages []string
	tests    []key // theirs
}

// sequential returns what the run with the race detector leaves out: nothing, unless all
// packages and all of their tests are meant.
func sequential(args []string) (held, error) {
	if !slices.Contains(args, "./...") || slices.ContainsFunc(args, choosesTests) {
		return held{}, nil
	}
	var h held
	list := []string{"test", "-json", "-list", "."}
	for _, dir := range append(selection.Sequential(), selection.Programs()...) {
		list = append(list, "./"+dir)
	}
	listed, err := output("go", list...)
	if err != nil {
		return held{}, err
	}
	h.take(listed)
	return h, nil
}

var (
	choice = regexp.MustCompile(`^--?(test\.)?(run|skip|bench|list)(=|$)`)
	name   = regexp.MustCompile(`^(Test|Example|Fuzz)\w*$`)
)

// choosesTests reports whether an argument of go test chooses among the tests.
func choosesTests(arg string) bool { return choice.MatchString(arg) }

// take reads what go test -json -list wrote: the names of tests, in the output of their package.
func (h *held) take(listed string) {
	for _, line := range strings.Split(listed, "\n") {
		var e event
		if json.Unmarshal([]byte(line), &e) != nil || e.Action != "output" {
			continue
		}
		if test := strings.TrimSpace(e.Output); name.MatchString(test) {
			h.tests = append(h.tests, key{e.Package, test})
		}
	}
	for _, k := range h.tests {
		if !slices.Contains(h.packages, k.pkg) {
			h.packages = append(h.packages, k.pkg)
		}
	}
}

// leftOut returns packages without these.
func (h held) leftOut(packages []string) (rest []string) {
	for _, pkg := range packages {
		if !slices.Contains(h.packages, pkg) {
			rest = append(rest, pkg)
		}
	}
	return rest
}

// output runs a command and returns what it wrote; if it fails, the error says it.
func output(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = environment(args)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out), err
}
