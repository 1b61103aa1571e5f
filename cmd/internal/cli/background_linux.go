package cli

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// writeInBackground lets the calling goroutine write to a terminal whose foreground this program is not in, also if the
// terminal has tostop: the kernel sends no SIGTTOU to a thread that blocks it. Other threads, and so the command, do
// not.
func writeInBackground() (end func()) {
	runtime.LockOSThread()
	var set, before unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGTTOU - 1)
	if unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil) // it was set a moment ago
		runtime.UnlockOSThread()
	}
}
