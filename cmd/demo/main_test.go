//go:build unix

package main_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(programtest.Build("demo")))
}
