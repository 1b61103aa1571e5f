// Command tally runs go test and says in its last line what was not run. What it
// is given are go test's own arguments. With ./... among them it goes through the
// nested modules, too: each folder with a go.mod below this one. It keeps go test's ok and FAIL lines,
// shows the output of tests that failed, and counts.
//
// A test that runs a part, by test/kit/selection, is counted and named. If the level is
// prove and the arguments say -race, the packages of selection.Once run without the
// race detector, and the tests that ran a part under it a second time without it, and
// then one that runs a part is a failure. What an earlier run of the same commit has run in full, without the race
// detector, it need not run again: see ran.go.
//
// A test that cannot run here skips with a message that begins with "not run: ".
// With INCUMBENT_REQUIRE=all every skip is a failure; one without these words
// always is. So are a test that does not end, a package that fails though its
// tests passed, and a go test that fails though its packages did not: each is
// counted and named, so that PASS, "0 failed" and exit status 0 always come
// together.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// timeout bounds one package's tests, unless an argument says otherwise. It only ends what hangs: a package that takes
// three minutes on a quiet machine takes ten on a busy one.
const timeout = "30m"

func main() {
	begun := time.Now()
	level, err := selection.Parse(os.Getenv(selection.Variable))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	t := newTally(os.Stdout, os.Getenv("INCUMBENT_REQUIRE") == "all")
	args := os.Args[1:]
	atEnd, err := t.connect(level, args, os.Getenv(ranVariable))
	if err == nil {
		err = cmp.Or(everything(t, level, args, runModules), atEnd())
	}
	if !t.end(err, time.Since(begun)) {
		os.Exit(1)
	}
}

// everything runs the tests, and at level prove a second time, without the race
// detector, those that ran a part under it.
func everything(t *tally, level selection.Level, args []string, run func(*tally, []string) error) error {
	t.proves = level == selection.Prove
	err := run(t, args)
	if !t.proves {
		return err
	}
	if slices.Contains(args, "-race") && len(t.parts) > 0 {
		if again, owed := t.again(args); len(owed) > 0 {
			err = cmp.Or(err, run(t, again))
			t.demandRun(owed)
		}
	}
	t.demandAll()
	return err
}

// runModules runs the tests of the module here and, if all packages are meant, of those below it meanwhile, one
// package at a time: the longest packages of the module here wait for servers more than they compute. Packages that
// are named are run in the modules that they belong to, as many modules at a time.
func runModules(t *tally, args []string) error {
	var runs []func() error
	if slices.Contains(args, "./...") {
		listed, err := output(".", "go", "list", "./...")
		if err != nil {
			return err
		}
		if t.proves && slices.Contains(args, "-race") {
			// All modules need the library, and what two compile at the same time is compiled twice. If it fails, each
			// test says so.
			output(".", "go", "build", "-race", ".")
		}
		runs = append(runs, func() error { return runNested(t, ".", args) })
		for _, part := range t.divide(args, order(strings.Fields(listed))) {
			runs = append(runs, func() error { return run(t, ".", part) })
		}
		return together(runs...)
	}
	dirs, err := nested(".")
	for _, m := range byModule(args, dirs) {
		runs = append(runs, func() error { return run(t, m.dir, m.args) })
	}
	return cmp.Or(err, together(runs...))
}

// together calls the functions at the same time, and returns the first of their errors.
func together(run ...func() error) error {
	errs := make([]error, len(run))
	var all sync.WaitGroup
	for i, f := range run {
		all.Go(func() { errs[i] = f() })
	}
	all.Wait()
	return cmp.Or(errs...)
}

// run feeds what go test tells, in a module's folder, to the tally.
func run(t *tally, dir string, args []string) error {
	all := []string{"test", "-json"}
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-timeout") }) {
		all = append(all, "-timeout", timeout)
	}
	cmd := exec.Command("go", append(all, args...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = environment(args)
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

// output runs a command in a folder and returns what it wrote; if it fails, the error says it.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = environment(args)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, exit.Stderr)
	}
	return string(out), err
}

// environment is that of go test. The collector runs less often: worlds, walks and the
// compiler leave much behind, and take a third less time so.
func environment(args []string) []string {
	env := os.Environ()
	if os.Getenv("GOGC") == "" {
		env = append(env, "GOGC=400")
	}
	if !slices.Contains(args, "-race") {
		env = append(env, "CGO_ENABLED=0") // as on a machine without a C compiler
	}
	return env
}

// event is a line of go test -json: see go doc test2json.
type event struct {
	Action, Package, Test, ImportPath, FailedBuild, Output string
}

// key is a test, or with an empty test a package.
type key struct{ pkg, test string }

type tally struct {
	out     io.Writer
	require bool

	mu       sync.Mutex // held while a line is taken: modules are tested at the same time
	said     map[key][]string
	running  map[key]bool
	ended    map[key]bool
	passed   map[key]bool
	failed   []failure
	packages map[string]bool // that passed
	begun    []string        // rounds that tests began again: see again.go
	skips    []key
	skipped  int
	notRun   map[string]int   // reason: how many tests
	parts    map[key][]string // tests that ran a part, and of what
	proves   bool             // the level is prove
	ran      ran              // before this run
}

// failure is a test that failed; if test is empty, a package that failed, or
// "go test" itself.
type failure struct {
	key
	why  string   // what go test's own output does not say; may be empty
	said []string // the last lines that the test wrote
}

func newTally(out io.Writer, require bool) *tally {
	return &tally{
		out: out, require: require, said: map[key][]string{}, running: map[key]bool{},
		ended: map[key]bool{}, passed: map[key]bool{}, packages: map[string]bool{}, notRun: map[string]int{},
		parts: map[key][]string{},
	}
}

func (t *tally) fail(k key, why string) {
	t.failed = append(t.failed, failure{k, why, lastLines(t.said[k])})
}

func (t *tally) read(r io.Reader) {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		t.line(line)
		if err != nil {
			return
		}
	}
}

// line takes a line of what go test tells: an event, or a word of go's own.
func (t *tally) line(line []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var e event
	if json.Unmarshal(line, &e) == nil {
		t.take(e)
	} else if len(line) > 0 {
		fmt.Fprintf(t.out, "%s", line)
	}
}

func (t *tally) take(e event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		fmt.Fprint(t.out, e.Output)
		built := key{e.ImportPath, ""}
		t.said[built] = append(t.said[built], e.Output)
	case "run":
		t.running[k] = true
	case "output":
		if _, of, ok := strings.Cut(e.Output, ": "+selection.Prefix); ok {
			t.parts[k] = append(t.parts[k], strings.TrimSpace(of))
		}
		t.takeBegunAgain(k, e.Output)
		t.said[k] = append(t.said[k], e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.packageEnds(e)
		} else {
			t.testEnds(k, e.Action)
		}
		delete(t.said, k)
		delete(t.running, k)
	}
}

func (t *tally) testEnds(k key, action string) {
	t.ended[k] = true
	why, ok := reason(t.said[k])
	if ok && action != "pass" {
		t.notRun[why]++
	}
	switch action {
	case "pass":
		t.passed[k] = true
	case "fail":
		t.fail(k, "")
		fmt.Fprint(t.out, strings.Join(t.said[k], ""))
	case "skip":
		t.skipped++
		t.skips = append(t.skips, k)
		delete(t.parts, k) // it ran nothing
		switch {
		case !ok:
			t.fail(k, `skips without a message that begins with "not run: "`)
		case t.require:
			t.fail(k, "not run: "+why)
		}
	}
}

// reason returns what stands behind the words in a skipped test's output.
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
		t.packages[e.Package] = true
	}
	if e.Action == "fail" {
		if e.FailedBuild != "" {
			t.said[key{e.Package, ""}] = append(t.said[key{e.FailedBuild, ""}], t.said[key{e.Package, ""}]...)
		}
		t.packageFails(e.Package)
	}
	for _, line := range t.said[key{e.Package, ""}] {
		if e.Action == "fail" || strings.HasPrefix(line, "ok ") {
			fmt.Fprint(t.out, line)
		}
	}
}

// packageFails counts what of the package is not counted yet: its tests that did
// not end, and if nothing of it failed, the package.
func (t *tally) packageFails(pkg string) {
	of := func(k key) bool { return k.pkg == pkg && k.test != "" }
	for k, said := range t.said {
		if of(k) {
			fmt.Fprint(t.out, strings.Join(said, ""))
		}
	}
	for k := range t.running {
		if of(k) {
			t.fail(k, "did not end")
		}
	}
	maps.DeleteFunc(t.said, func(k key, _ []string) bool { return of(k) })
	maps.DeleteFunc(t.running, func(k key, _ bool) bool { return of(k) })
	if !slices.ContainsFunc(t.failed, func(f failure) bool { return f.pkg == pkg }) {
		t.fail(key{pkg, ""}, "failed, and none of its tests did")
	}
}

// end writes what failed, with the last lines of each test, which rounds were begun again, then the result
// and, as the last line, what was not run. Err is what go test ended with. It reports
// whether nothing failed.
func (t *tally) end(err error, took time.Duration) bool {
	if err != nil && len(t.failed) == 0 {
		t.fail(key{"go test", ""}, err.Error()+", and no package failed")
	}
	fmt.Fprint(t.out, resultFollows)
	t.showFailures()
	t.showBegunAgain()
	var why []string
	for r, n := range t.notRun {
		why = append(why, fmt.Sprintf("%s [%d]", r, n))
	}
	slices.Sort(why)
	if len(why) == 0 {
		why = []string{"nothing"}
	}
	t.nameParts()
	t.sayRan()
	word := "PASS"
	if len(t.failed) > 0 {
		word = "FAIL"
	}
	fmt.Fprintf(t.out, "%s: %d passed, %d failed, %d not run, in %d packages and %s\n",
		word, len(t.passed), len(t.failed), t.skipped, len(t.packages), took.Round(100*time.Millisecond))
	fmt.Fprintf(t.out, "not run: %s%s\n", strings.Join(why, ", "), t.partly())
	return len(t.failed) == 0
}
