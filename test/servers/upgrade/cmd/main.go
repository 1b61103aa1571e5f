// Command cmd is an agent in a process of its own: see its package. TestMain of test/servers/upgrade does the same for
// the version that is here, and this program is for the one that is compared with it.
package main

import (
	"fmt"
	"os"

	"github.com/incumbent-go/incumbent/test/servers/upgrade/agent"
)

func main() {
	if err := agent.Main(os.Args[1:]); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}
