//go:build race

package figures

// many is fewer under the race detector, which makes everything ten times as slow.
const many = 2_000
