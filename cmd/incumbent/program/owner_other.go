//go:build !unix

package program

import "os"

// rootOwns reports false: there is no such owner here.
func rootOwns(os.FileInfo) bool { return false }

// keepOwner does nothing: there is no such owner here.
func keepOwner(*os.File, os.FileInfo) {}
