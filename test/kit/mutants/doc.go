// Package mutants plants small bugs in the library, one at a time, and looks whether a test fails: mutation testing.
//
// A mutant is one bug: a condition negated, a call removed, a constant changed. All mutants of a sample are in one
// build (mutant schemata): each stands in the source behind a switch, and an environment variable that is read once at
// the start turns one of them on. The sources on disk stay as they are: go test -c gets the others by -overlay. So each
// test binary is compiled once, and without a number it is the library as it is.
//
// What is known about a mutant is kept in testdata. finders.tsv has the test that found it, which is tried first the
// next time and decides nothing. It is written after each mutant. survivors.tsv has the mutants that no test can find,
// each with the reason. Any other survivor is a failure.
//
// The flags of make mutants ARGS=… are -only EXPR (those whose ids match), -rest (those that no table names: so a run
// that was interrupted goes on), and those of go test. Other runs test the tool, on a toy.
//
// The texts of golden traces and digests do not count as finders, nor do tests that need a recorded world to stay as it
// is: they fail whenever the behaviour changes, right or wrong. The judge of the traces counts. A test that does not
// end within ten seconds and five times its time without a mutant is run once more before it counts.
//
// Of Go's libraries for this, gremlins and go-mutesting's forks compile each mutant apart, and go-mutants, which has
// schemata, is a pre-release that cannot leave out single tests of a package or give a test binary arguments.
package mutants
