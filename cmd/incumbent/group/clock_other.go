//go:build unix && !linux

package group

import "golang.org/x/sys/unix"

// ticks returns the time of a clock that two processes share. On macOS it goes on while
// the computer is suspended.
func ticks() int64 { return clock(unix.CLOCK_MONOTONIC) }
