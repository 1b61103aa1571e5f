package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// runNested runs the tests of every nested module. One whose dependencies cannot be had
// here is not run, as a test that skips is not.
func runNested(t *tally, root string, args []string) error {
	dirs, err := nested(root)
	for _, dir := range dirs {
		download := exec.Command("go", "mod", "download")
		download.Dir = dir
		if said, failed := download.CombinedOutput(); failed != nil {
			fmt.Fprintf(os.Stderr, "%s: go mod download: %v\n%s", dir, failed, said)
			t.leaveOut(dir)
			continue
		}
		err = cmp.Or(err, run(t, dir, args))
	}
	return err
}

// nested returns the folders below root that are modules of their own.
func nested(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.Name() == "go.mod" && filepath.Dir(path) != filepath.Clean(root):
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	})
	return dirs, err
}

// leaveOut counts a module that cannot be tested here.
func (t *tally) leaveOut(dir string) {
	why := fmt.Sprintf("the module %s (what it depends on cannot be fetched)", filepath.ToSlash(dir))
	t.skipped++
	t.notRun[why]++
	if t.require {
		t.fail(key{dir, ""}, "not run: "+why)
	}
}
