// Command gensite writes the files of the playground's static site into a directory, all but the program itself: see "make
// site". Any server of files may serve them; one that compresses saves most.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/incumbent-go/incumbent/play/web"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gensite: want one argument, the directory")
		os.Exit(64)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gensite:", err)
		os.Exit(1)
	}
}

// write writes the site.
func write(dir string) error {
	files, err := web.Site()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
