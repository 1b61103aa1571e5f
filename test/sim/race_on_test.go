//go:build race

package sim

// raced is whether the race detector is on: it slows worlds down tenfold.
const raced = true
