//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// columns asks a terminal for its width; 0 if it does not say.
func columns(f *os.File) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) { // its error leaves 0
		if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			n = int(size.Col)
		}
	})
	return n
}
