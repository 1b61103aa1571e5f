// Package suite has the tests of all recipes, written once
// and run against the in-memory ZooKeeper and a real one.
package suite

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/optimizations"
)

func TestMain(m *testing.M) {
	invariants.Check(10_000)
	optimizations.FromEnvironment()
	if err := flag.Set("test.parallel", "6"); err != nil { // they wait: see both
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
