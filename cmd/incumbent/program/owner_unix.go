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
