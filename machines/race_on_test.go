//go:build race

package machines

// Few with the race detector: machines have no goroutines, so it finds nothing in many, and slows them down tenfold.
const usualWalks = 15
