package clock

import "golang.org/x/sys/unix"

// System returns CLOCK_BOOTTIME: it goes on while the machine is suspended, so that
// after a suspension the deadline has passed. If the kernel does not have it (before
// 2.6.39), System returns Go's own clock.
func System() Clock {
	if _, ok := bootTime(); !ok {
		return Clock{SinceStart()}
	}
	return Clock{func() int64 { t, _ := bootTime(); return t }}
}

func bootTime() (int64, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}

// Name returns what System reads.
func Name() string {
	if _, ok := bootTime(); ok {
		return "boottime"
	}
	return "monotonic"
}
