package events

import (
	"fmt"
	"time"
)

// PauseExplains reports whether a pause of this process explains why something was waited
// for longer than limit: the pause was a quarter of the limit or more, and the process ran
// for less than the limit while it waited.
func PauseExplains(paused, waited, limit time.Duration) bool {
	return paused > 0 && paused >= limit/4 && waited-paused < limit
}

// PauseText returns the sentence about a pause of this process: "this process did not run
// for 3.0 s".
func PauseText(paused time.Duration) string {
	return fmt.Sprintf("this process did not run for %.1f s", paused.Seconds())
}
