package health_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(victim) != "" {
		serveUntilKilled()
	}
	goleak.VerifyTestMain(m)
}
