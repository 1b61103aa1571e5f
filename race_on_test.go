//go:build race

package incumbent

// raced: the race detector makes everything ten times slower, and needs to see no more than each thing once.
const raced = true
