//go:build !unix

package program

import "os"

// notifyOfDump does nothing: there is no such signal here.
func notifyOfDump(chan os.Signal) {}
