package wire

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/invariants"
)

func TestMain(m *testing.M) {
	invariants.Check(10_000)
	goleak.VerifyTestMain(m)
}
