package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/cmd/internal/cli"
)

// createLog creates the file of --record. If there is a file of that name already, from an
// earlier run, it stays as it is: the log goes to FILE.1, or to the number after the highest. So
// a service that is started again with the same flags leads again.
func (e *elector) createLog(file string) (*os.File, error) {
	f, err := incumbent.CreateLog(file)
	if !errors.Is(err, os.ErrExist) {
		return f, err
	}
	if info, statErr := os.Stat(file); statErr == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("--record %s is no file: name a file", file)
	}
	for n := highestNumber(file) + 1; ; n++ {
		numbered := fmt.Sprintf("%s.%d", file, n)
		f, err := incumbent.CreateLog(numbered)
		switch {
		case errors.Is(err, os.ErrExist): // another program created it in the same moment
			continue
		case err == nil:
			e.Note("%s exists already: this run is recorded in %s", cli.Quote(file), cli.Quote(numbered))
		}
		return f, err
	}
}

// highestNumber returns the highest n of the files FILE.n, 0 if there is none, or if the
// directory may not be listed.
func highestNumber(file string) (highest uint64) {
	entries, _ := os.ReadDir(filepath.Dir(file))
	for _, entry := range entries {
		if number, ok := strings.CutPrefix(entry.Name(), filepath.Base(file)+"."); ok {
			if n, err := strconv.ParseUint(number, 10, 32); err == nil {
				highest = max(highest, n)
			}
		}
	}
	return highest
}
