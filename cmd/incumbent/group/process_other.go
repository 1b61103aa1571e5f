//go:build unix && !linux

package group

import (
	"os"
	"syscall"
)

// executable returns the file from which this program was started, and its name. If the file was replaced since, the
// guard is the new program; if it was deleted, no guard starts.
func executable() (file, name string, err error) {
	name, err = os.Executable()
	return name, name, err
}

func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}

func guardAttributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}

func shrink(*os.File) {}
