// Package door_test tests the module's root as a program uses it: clients, handles and what they say, against a server
// in memory and in virtual time. It reaches inside by internal/sources only. What lies behind the door is tested there.
package door_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/invariants"
	"github.com/incumbent-go/incumbent/internal/optimizations"
)

func TestMain(m *testing.M) {
	invariants.Check(10_000)
	optimizations.FromEnvironment()
	goleak.VerifyTestMain(m)
}
