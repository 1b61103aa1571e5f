//go:build unix && !linux

package group

import "golang.org/x/sys/unix"

// ticks is a clock that two processes share. On macOS it goes on while the
// machine sleeps.
func ticks() int64 { return clock(unix.CLOCK_MONOTONIC) }
