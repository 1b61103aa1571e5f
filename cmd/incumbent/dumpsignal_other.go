//go:build !unix

package main

import "os"

// notifyOfDump does nothing: there is no such signal here.
func notifyOfDump(chan os.Signal) {}
