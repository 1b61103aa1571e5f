//go:build unix && !linux

package group

import (
	"errors"
	"syscall"
)

// alive is left to kill(2) here: BSD and macOS refuse it where only the dead are
// left whom nobody has collected yet.
func alive(_ int, err error) bool { return !errors.Is(err, syscall.EPERM) }
