// Package suite has the tests of all recipes, written once
// and run against the in-memory ZooKeeper and a real one.
package suite

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
