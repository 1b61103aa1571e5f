//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// widthOf returns how many columns a terminal has; 0 if the file is none, or if it does not say.
func widthOf(f *os.File) (n int) {
	if raw, err := f.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { // its error leaves 0
			if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
				n = int(size.Col)
			}
		})
	}
	return n
}
