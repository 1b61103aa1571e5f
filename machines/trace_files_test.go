package machines

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// backup matches the names of files that datadriven.Walk leaves out: editors make them.
var backup = regexp.MustCompile(`^\.|~$|^#.*#$`)

// traces returns the path of every golden trace.
func traces(t *testing.T) (all []string) {
	for _, r := range Recipes() {
		err := filepath.WalkDir(filepath.Join("testdata", r.Name()), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case backup.MatchString(d.Name()) && d.IsDir():
				return fs.SkipDir
			case !d.IsDir() && !backup.MatchString(d.Name()):
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	return all
}

// left counts the traces that were not played.
func left(all []string, played map[string]bool) (n int) {
	for _, path := range all {
		if !played[path] {
			n++
		}
	}
	return n
}

// Rows are missed if all traces ran, and if one did not, they are not.
func TestRowsAreMissedWhenAllTracesRan(t *testing.T) {
	all := traces(t)
	played := map[string]bool{}
	for _, path := range all {
		played[path] = true
	}
	if n := left(all, played); n != 0 || len(all) < 100 {
		t.Errorf("%d of %d are left", n, len(all))
	}
	delete(played, filepath.Join("testdata", "latch", "first_in_line"))
	if n := left(all, played); n != 1 {
		t.Errorf("%d are left of one", n)
	}
	gaps, gap := newCoverage().gaps(), "latch: no trace fires the row [latent]"
	if !slices.ContainsFunc(gaps, func(s string) bool { return strings.HasPrefix(s, gap) }) {
		t.Errorf("nothing fired, and the gaps are %q", gaps)
	}
}
