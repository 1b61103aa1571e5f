package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// runNested runs the tests of every nested module, a package at a time. One whose dependencies cannot be had
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
		listed, failed := output(dir, "go", "list", "./...")
		err = cmp.Or(err, failed)
		for _, part := range t.ofNested(root, dir, args, strings.Fields(listed)) {
			err = cmp.Or(err, run(t, dir, part))
		}
	}
	return err
}

// module is the path of the module here; those below it begin with it.
const module = "github.com/incumbent-go/incumbent"

// inModule is what go test is given in a module's folder.
type inModule struct {
	dir  string
	args []string
}

// byModule divides the packages among arguments by the nested modules, which are in dirs. The
// module here gets the arguments if it has packages among them, or no other module has.
func byModule(args, dirs []string) (all []inModule) {
	isPackage := func(a string) bool { return a == module || strings.HasPrefix(a, module+"/") }
	here := args
	for _, dir := range dirs {
		path := module + "/" + filepath.ToSlash(dir)
		isOf := func(a string) bool { return a == path || strings.HasPrefix(a, path+"/") }
		if slices.ContainsFunc(args, isOf) {
			all = append(all,
				inModule{dir, slices.DeleteFunc(slices.Clone(args), func(a string) bool {
					return isPackage(a) && !isOf(a)
				})})
			here = slices.DeleteFunc(slices.Clone(here), isOf)
		}
	}
	if len(all) == 0 || slices.ContainsFunc(here, isPackage) {
		all = append([]inModule{{".", here}}, all...)
	}
	return all
}

// elsewhere has modules that make adopters tests.
var elsewhere = filepath.Join("test", "adopters")

// nested returns the folders below root that are modules of their own.
func nested(root string) (dirs []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"),
			path == filepath.Join(root, elsewhere):
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
	t.mu.Lock()
	defer t.mu.Unlock()
	why := fmt.Sprintf("the module %s (what it depends on cannot be fetched)", filepath.ToSlash(dir))
	t.skipped++
	t.notRun[why]++
	if t.require {
		t.fail(key{dir, ""}, "not run: "+why)
	}
}
