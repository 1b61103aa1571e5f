package peers

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// scripts/downloads.tsv fetches each jar of today's Curator, and kazoo's wheel.
func TestWhatIsFetched(t *testing.T) {
	list, err := os.ReadFile("../../../scripts/downloads.tsv")
	if err != nil {
		t.Fatal(err)
	}
	fetched := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		if words := strings.Split(line, "\t"); len(words) == 5 && words[0] == "ci" {
			_, name, found := strings.Cut(words[2], ":")
			if !found {
				name = words[2]
			}
			fetched[name+"-"+words[3]] = true
		}
	}
	for _, name := range slices.Concat([]string{"kazoo-" + kazooToday}, today, finders) {
		if !fetched[name] {
			t.Errorf("%s is not fetched by make deps", name)
		}
	}
}

func TestTheReleaseOfCuratorIsKnown(t *testing.T) {
	c, err := in(t.TempDir(), nil, "5.9.0")
	if err != nil || c.Release != (realzk.Version{5, 9, 0}) {
		t.Errorf("%v, %v", c.Release, err)
	}
	if c, err := in(t.TempDir(), nil, "next"); err == nil {
		t.Errorf("%v is no error", c.Release)
	}
	dir := t.TempDir()
	for _, name := range []string{"a.jar", "curator-recipes-5.4.0.jar"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if linked, err := linked(dir); err != nil || linked != "5.4.0" {
		t.Errorf("%q, %v", linked, err)
	}
	if linked, err := linked(t.TempDir()); err == nil {
		t.Errorf("%q of an empty folder is no error", linked)
	}
	c, err = in(dir, []string{"a"}, "5.4.0")
	want := "x" + string(filepath.ListSeparator) + filepath.Join(dir, "a.jar")
	if err != nil || c.ClassPath("x") != want {
		t.Errorf("%q, %v, want %q", c.ClassPath("x"), err, want)
	}
	if _, err := in(dir, []string{"b"}, "5.4.0"); err == nil || !strings.Contains(err.Error(), "no b.jar: make deps") {
		t.Errorf("without a jar: %v", err)
	}
}
