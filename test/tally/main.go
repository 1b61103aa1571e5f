// Command tally runs go test and says in its last line what was not run. What it
// is given are go test's own arguments. It keeps go test's ok and FAIL lines,
// shows the output of tests that failed, and counts.
//
// A test that cannot run here skips with a message that begins with "not run: ".
// With INCUMBENT_REQUIRE=all every skip is a failure; one without these words
// always is.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// timeout bounds one package's tests, unless an argument says otherwise.
const timeout = "10m"

func main() {
	begun := time.Now()
	t := newTally(os.Stdout, os.Getenv("INCUMBENT_REQUIRE") == "all")
	err := run(t, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "go test:", err)
	}
	if !t.end(time.Since(begun)) || err != nil {
		os.Exit(1)
	}
}

// run feeds what go test tells to the tally.
func run(t *tally, args []string) error {
	all := []string{"test", "-json"}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-timeout") }) {
		all = append(all, "-timeout", timeout)
	}
	cmd := exec.Command("go", append(all, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t.read(out)
	return cmd.Wait()
}

// event is a line of go test -json: see go doc test2json.
type event struct {
	Action, Package, Test, ImportPath, Output string
}

// key is a test, or with an empty test a package.
type key struct{ pkg, test string }

type tally struct {
	out     io.Writer
	require bool

	said        map[key][]string
	passed      int
	failed      int
	packages    int
	notRun      map[string]int // reason: how many tests
	unexplained []string       // tests that skipped without the words
}

func newTally(out io.Writer, require bool) *tally {
	return &tally{out: out, require: require, said: map[key][]string{}, notRun: map[string]int{}}
}

func (t *tally) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if json.Unmarshal(line, &e) == nil {
			t.take(e)
		} else if len(line) > 0 {
			fmt.Fprintf(t.out, "%s", line)
		}
		if err != nil {
			return
		}
	}
}

func (t *tally) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "output":
		t.said[k] = append(t.said[k], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.packageEnds(e)
		} else {
			t.testEnds(k, e.Action)
		}
		delete(t.said, k)
	}
}

func (t *tally) testEnds(k key, action string) {
	switch action {
	case "pass":
		t.passed++
	case "fail":
		t.failed++
		fmt.Fprint(t.out, strings.Join(t.said[k], ""))
	case "skip":
		why, ok := reason(t.said[k])
		if !ok {
			t.unexplained = append(t.unexplained, k.pkg+" "+k.test)
			return
		}
		t.notRun[why]++
		if t.require {
			fmt.Fprintf(t.out, "--- FAIL: %s (%s): not run: %s\n", k.test, k.pkg, why)
		}
	}
}

// reason is what stands behind the words in a skipped test's output.
func reason(said []string) (string, bool) {
	for _, line := range said {
		if _, why, ok := strings.Cut(line, "not run: "); ok && strings.TrimSpace(why) != "" {
			return strings.TrimSpace(why), true
		}
	}
	return "", false
}

// packageEnds shows go test's line about the package, and everything that was
// said in it when it failed: by tests, too, that never ended.
func (t *tally) packageEnds(e event) {
	if e.Action == "pass" {
		t.packages++
	}
	if e.Action == "fail" {
		for k, said := range t.said {
			if k.pkg == e.Package && k.test != "" {
				fmt.Fprint(t.out, strings.Join(said, ""))
				delete(t.said, k)
			}
		}
	}
	for _, line := range t.said[key{e.Package, ""}] {
		if e.Action == "fail" || strings.HasPrefix(line, "ok ") {
			fmt.Fprint(t.out, line)
		}
	}
}

// end writes the result and, as the last line, what was not run. It reports
// whether that is good.
func (t *tally) end(took time.Duration) bool {
	for _, test := range t.unexplained {
		fmt.Fprintf(t.out, "FAIL %s skips without a message that begins with %q\n", test, "not run: ")
	}
	skipped := len(t.unexplained)
	var why []string
	for r, n := range t.notRun {
		skipped += n
		why = append(why, fmt.Sprintf("%s [%d]", r, n))
	}
	slices.Sort(why)
	if len(why) == 0 {
		why = []string{"nothing"}
	}
	good := t.failed == 0 && len(t.unexplained) == 0 && !(t.require && skipped > 0)
	word := "PASS"
	if !good {
		word = "FAIL"
	}
	fmt.Fprintf(t.out, "%s: %d passed, %d failed, %d not run, in %d packages and %s\n",
		word, t.passed, t.failed, skipped, t.packages, took.Round(100*time.Millisecond))
	fmt.Fprintf(t.out, "not run: %s\n", strings.Join(why, ", "))
	return good
}
