//go:build !race

package incumbent

const raced = false
