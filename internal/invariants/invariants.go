// Package invariants is the switch for checks of what is always true in the door and in zkio. Only tests turn it on. A
// program outside this module cannot import the package.
package invariants

import (
	"os"
	"strings"
)

// inbox is the bound that Check was called with; 0: nothing is checked.
var inbox int

// Check has every client and every adapter that is made from now on check its invariants, and panic if one is broken.
// Most bounds the events that wait for a client's loop. Check is called by TestMain. It does nothing where benchmarks run,
// because they measure what a program runs.
func Check(most int) {
	for _, arg := range os.Args {
		if strings.HasPrefix(arg, "-test.bench=") {
			return
		}
	}
	inbox = most
}

// Inbox returns the bound of an inbox, and whether invariants are checked.
func Inbox() (most int, checked bool) { return inbox, inbox > 0 }
