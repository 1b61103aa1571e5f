//go:build unix && !linux

package group

import (
	"errors"
	"syscall"
)

// alive reports whether a process of a group still runs, by the error of kill(2): on
// BSD and macOS it is EPERM if only zombies are left.
func alive(_ int, err error) bool { return !errors.Is(err, syscall.EPERM) }
