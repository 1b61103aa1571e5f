package wire

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
