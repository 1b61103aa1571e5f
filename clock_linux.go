package incumbent

import "golang.org/x/sys/unix"

// systemClock returns CLOCK_BOOTTIME: it goes on while the machine is suspended, so that
// after a suspension the deadline has passed. If the kernel does not have it (before
// 2.6.39), systemClock returns Go's own clock.
func systemClock() clock {
	if _, ok := bootTime(); !ok {
		return clock{sinceStart()}
	}
	return clock{func() int64 { t, _ := bootTime(); return t }}
}

func bootTime() (int64, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}

// clockName returns what systemClock reads.
func clockName() string {
	if _, ok := bootTime(); ok {
		return "boottime"
	}
	return "monotonic"
}
