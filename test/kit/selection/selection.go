// Package selection decides how much of a test is run. A test that can be long, because it plays many worlds, walks or
// virtual hours, gets the amount from here and never from a number of its own.
//
// There are three levels. Each has a target of make, which sets INCUMBENT_LEVEL: quick is run while somebody works,
// test after that, and prove runs everything. Without the variable the level is test. What takes longer than that has a
// flag, and a target of make that sets it: small, plants, scale, herd, queues, chaos, upgrade and
// story-cut-off-follower.
//
// The race detector makes machines about ten times slower, so under it every level has the part of quick, and make
// prove runs the whole without it afterwards. Packages of which Once says so, make prove runs without it only, and
// make race with it.
//
// A test that runs a part says so in its output. Command tally counts these lines and names them at the end, and a line
// that is left after make prove is a failure. A selection is no skip: the test runs.
package selection

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Level is how much is run.
type Level int

// The levels, from the smallest to the largest.
const (
	Quick Level = iota
	Test
	Prove
)

// Sequential are the folders whose tests start no goroutine: the race detector has nothing to find there, and
// test/house checks that it stays so. What they test is run by several goroutines in other packages.
func Sequential() []string {
	return []string{
		"cmd/gencharts/pages", "internal/drawing", "events", "machines", "internal/page", "test/house",
		"test/kit/mutate", "test/worlds/small",
		"test/house/statecharts", "test/kit/tape", "internal/why", "internal/why/txnlog", "internal/world",
	}
}

// programs are folders, with those below them, whose tests wait for servers and processes, run programs that go build
// made, measure, play each world in one goroutine, or test what tests are made of. What they run of the library is
// raced by the tests of its packages, test/door, test/servers/suite and test/worlds/wire.
var programs = []string{
	"bench", "cmd/demo", "cmd/incumbent", "cmd/gensite", "cmd/genscrapes", "cmd/incumbentvet", "cmd/playwasm",
	"cmd/release", "docs/examples", "internal/play", "test/figures", "test/kit", "test/servers", "test/worlds/sim",
}

// racedThere are folders below those that are raced nevertheless.
var racedThere = []string{
	"cmd/incumbent/control", "cmd/incumbent/group", "cmd/incumbent/program", "internal/play/server", "test/kit/virtual",
	"test/servers/suite",
}

// Once reports whether make prove runs the tests of a folder once, without the race detector.
func Once(dir string) bool {
	isIn := func(above string) bool { return dir == above || strings.HasPrefix(dir, above+"/") }
	return slices.Contains(Sequential(), dir) ||
		slices.ContainsFunc(programs, isIn) && !slices.Contains(racedThere, dir)
}

// Longest are the folders whose tests take longest, the longest first: a run begins with them, so that it does not
// end with a single package that waits for its servers.
func Longest() []string {
	return []string{
		"test/servers/interop", "test/servers/ensemble", "test/door", "cmd/incumbent", "test/servers/differential",
		"test/worlds/sim", "test/worlds/wire", "test/servers/browser", "test/worlds/small", "test/servers/suite",
		"zkio", "internal/why",
	}
}

// Variable is the environment variable that holds the level's name.
const Variable = "INCUMBENT_LEVEL"

// Prefix begins the line that a test writes which runs a part.
const Prefix = "selected: "

var names = []string{"quick", "test", "prove"}

func (l Level) String() string { return names[l] }

// Setting returns the environment variable that gives this level to a test binary that a test runs.
func (l Level) Setting() string { return Variable + "=" + l.String() }

// Parse returns the level of this name; the empty name is that of Test.
func Parse(name string) (Level, error) {
	if name == "" {
		return Test, nil
	}
	for i, n := range names {
		if n == name {
			return Level(i), nil
		}
	}
	return 0, fmt.Errorf("%s=%s: want one of %q", Variable, name, names)
}

// now returns the level of this run.
func now(t testing.TB) Level {
	t.Helper()
	level, err := Parse(os.Getenv(Variable))
	if err != nil {
		t.Fatal(err)
	}
	return level
}

// part returns the level whose part is run: with the race detector it is Quick's.
func part(t testing.TB, raced bool) Level {
	t.Helper()
	if level := now(t); !raced {
		return level
	}
	return Quick
}

// Raced reports whether the race detector is on. Then a test may leave out what runs in its own goroutine alone, if
// every run without the detector does it: each test also runs without it, as on a fresh machine.
func Raced() bool { return raced }

// Full reports whether this run leaves nothing out: its level is Prove, and the race detector is off. If it is not, and
// the test runs less for that reason, the test says what it leaves out.
func Full(t testing.TB, less string) bool {
	t.Helper()
	if part(t, raced) == Prove {
		return true
	}
	t.Logf("%s%s", Prefix, less)
	return false
}

// StartsServers reports whether tests start real servers: at Prove, and if nothing names a level, as when one package
// is tested by hand.
func StartsServers(t testing.TB) bool {
	t.Helper()
	return now(t) == Prove || os.Getenv(Variable) == ""
}

// Of returns how many of all things a test runs: quick or test of them at these levels, and all at Prove.
func Of[N ~int | ~int64](t testing.TB, things string, quick, test, all N) N {
	t.Helper()
	return of(t, part(t, raced), things, quick, test, all)
}

func of[N ~int | ~int64](t testing.TB, level Level, things string, quick, test, all N) N {
	t.Helper()
	n := []N{quick, test, all}[level]
	if n < all {
		t.Logf("%s%v of %v %s", Prefix, n, all, things)
	}
	return n
}

// Some returns those of all things that a test runs: quick or test of them, spread over all, and all at Prove.
func Some[E any](t testing.TB, things string, quick, test int, all []E) []E {
	t.Helper()
	return spread(all, Of(t, things, min(quick, len(all)), min(test, len(all)), len(all)))
}

// spread returns n of all, at equal distances.
func spread[E any](all []E, n int) (some []E) {
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}
