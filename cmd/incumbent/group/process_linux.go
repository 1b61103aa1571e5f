package group

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// running is this program, also if its file was replaced or deleted since.
const running = "/proc/self/exe"

// executable returns the file of this very program, and its name.
func executable() (file, name string, err error) {
	if name, err = os.Executable(); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(running); err != nil { // there is no /proc
		return name, name, nil
	}
	return running, name, nil
}

// attributes are those of the command: in the group, and killed when this program ends.
func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGKILL}
}

// guardAttributes are those of a guard: in the group, or in its own if that is 0. When this program ends, the kernel
// wakes a
// guard that was stopped.
func guardAttributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGCONT}
}

// shrink makes a pipe small, so that a reader that does not read is noticed within about 200 lines.
func shrink(f *os.File) {
	if raw, err := f.SyscallConn(); err == nil {
		// it is only noticed later
		_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, os.Getpagesize()) })
	}
}
