//go:build !race

package machines

const (
	usualWalks = 50 // how many walks a test takes
	plantEvery = 1  // of how many planted bugs a test looks for one
)
