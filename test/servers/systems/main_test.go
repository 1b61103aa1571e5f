package systems

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/kit"
)

var ok = kit.OK

var (
	part  = flag.String("part", "", "run the systems: all, short, or the key of one, as make systems does")
	write = flag.Bool("write", false, "write results.md and the table of docs/testing.md")
)

func TestMain(m *testing.M) {
	if arguments := os.Getenv(inGo); arguments != "" {
		os.Exit(beProgram(arguments))
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}
