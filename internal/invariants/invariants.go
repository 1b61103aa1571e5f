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
// Most bounds the events that wait for a client's loop. Check is called by TestMain. It does nothing where benchmarks
// run, because they measure what a program runs.
//
// What can wait for a loop at once: of each call that has not given up, its command and those that open and close its
// machine, 3 at most; of each queue, 1000 puts in the background; of each machine, an answer for each request that it
// awaits, 200 at most and usually one, and a watch that has fired for each node and kind that it watches. So 10,000 is
// enough for the answers, calls and watches of some 2000 machines at once; the largest inbox of a test was not
// measured. It is no bound of a program: what grows with time, and not with the number of machines and calls, exceeds
// it.
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
