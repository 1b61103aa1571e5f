package elasticjob

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/kit"
)

var ok = kit.OK

// full runs every play on both servers, and bounds their time: make elastic-job.
var full = flag.Bool("full", false, "run every play, on both servers, within the time that Java alone needs")

func TestMain(m *testing.M) {
	if arguments := os.Getenv(workerArguments); arguments != "" {
		os.Exit(beWorker(arguments))
	}
	flag.Parse()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		newer.remove()
		older.remove()
		os.Exit(code)
	}))
}
