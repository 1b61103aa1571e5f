package upgrade

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/test/servers/upgrade/agent"
)

// job, in the environment, turns the test binary into an agent of the present version: the words of its orders.
const job = "INCUMBENT_UPGRADE_AGENT"

var full = flag.Bool("full", false, "run the older version, too, as make upgrade does; git must have its commit")

func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(job)); len(words) > 0 {
		if err := agent.Main(words); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
