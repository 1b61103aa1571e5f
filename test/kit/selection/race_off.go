//go:build !race

package selection

// raced reports whether the race detector is on.
const raced = false
