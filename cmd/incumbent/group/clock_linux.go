package group

import "golang.org/x/sys/unix"

// ticks is a clock that goes on while the machine sleeps.
func ticks() int64 { return clock(unix.CLOCK_BOOTTIME) }
