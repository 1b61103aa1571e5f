// Package repeat has what makes a test say the same twice: seeds that are fixed, one bound for all waits, a meter of
// the machine's own pauses, and rounds that begin again when such a pause has spoilt one.
package repeat

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Enough bounds a wait for a real server or process. It only ends a test that hangs, and is no assertion.
const Enough = 3 * time.Minute

// Variable is the environment variable that has another seed than the fixed one.
const Variable = "INCUMBENT_SEED"

// Seed returns the seed that a test draws from: the fixed one, or that of INCUMBENT_SEED. If the test fails, it prints
// how to play the same again.
func Seed(t testing.TB, fixed uint64) uint64 {
	t.Helper()
	seed, err := seedOf(os.Getenv(Variable), fixed)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	t.Cleanup(func() {
		if _, said := printed.LoadOrStore(t, true); t.Failed() && !said {
			t.Logf("play it again: %s=%d go test -count=1 -run '^%s$'", Variable, seed, t.Name())
		}
	})
	return seed
}

// printed are the tests that have printed their seed: one may take several.
var printed sync.Map // testing.TB → true

func seedOf(given string, fixed uint64) (uint64, error) {
	if given == "" {
		return fixed, nil
	}
	return strconv.ParseUint(given, 10, 64)
}
