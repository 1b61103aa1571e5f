//go:build !race

package machines

// usualWalks is how many walks a test takes.
const usualWalks = 50
