//go:build unix

package program

import (
	"os"
	"syscall"
)

// rootOwns reports whether root owns a file.
func rootOwns(info os.FileInfo) bool {
	stat, is := info.Sys().(*syscall.Stat_t)
	return is && stat.Uid == 0
}

// keepOwner gives a file to the owner of another one, if this program may.
func keepOwner(file *os.File, like os.FileInfo) {
	if stat, is := like.Sys().(*syscall.Stat_t); is {
		_ = file.Chown(int(stat.Uid), int(stat.Gid)) // only root may
	}
}
