//go:build !linux || !amd64

package wallclock

import (
	"errors"
	"io"
)

// Supported reports whether Run works on this platform.
const Supported = false

// Run returns an error: it needs Linux on amd64.
func Run([]string, io.Reader) (int, error) {
	return 0, errors.New("wallclock: Run needs Linux on amd64, whose registers it reads")
}
