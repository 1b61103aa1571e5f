//go:build !race

package chaos

import "time"

// raced is whether the race detector watches; usual is how long the faults of a test go on.
const (
	raced = false
	usual = 90 * time.Second
)
