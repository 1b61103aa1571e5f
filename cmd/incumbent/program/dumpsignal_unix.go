//go:build unix

package program

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyOfDump has the signal sent to ch at which the last records are written.
func notifyOfDump(ch chan os.Signal) { signal.Notify(ch, syscall.SIGUSR1) }
