//go:build !unix

package cli

import "os"

// widthOf does not know a terminal's width here: no line is broken.
func widthOf(*os.File) int { return 0 }
