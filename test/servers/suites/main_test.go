//go:build unix

package suites

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
)

// guard is the argument that makes this program the guard of a process group.
const guard = "guard"

// TestMain runs the tests, unless this program was started as a guard, or in place of java.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == guard {
		group.Guard(os.Stdin, os.Stdout, os.Stderr, func(string) {}, nil)
		return
	}
	if hub := os.Getenv(hubVariable); hub != "" {
		if err := beServer(hub, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
