//go:build !race

package small

const raced = false
