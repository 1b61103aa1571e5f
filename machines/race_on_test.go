//go:build race

package machines

// usualWalks are few with the race detector: machines have no goroutines, so it finds nothing in many, and slows them down
// tenfold.
const usualWalks = 15
