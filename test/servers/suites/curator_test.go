//go:build unix

package suites

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// curator says why Curator's own tests are not run: Debian's binary package has none, and its source package could not be fetched
// when this was written. If it can be fetched now, that is a failure: the tests are to be added.
func curator(t *testing.T) {
	sources, err := os.ReadFile("/etc/apt/sources.list.d/debian.sources")
	if err != nil {
		realzk.NotRun(t, "Curator's own tests (there is no list of Debian's packages here: "+err.Error()+")")
	}
	dir := t.TempDir()
	list := strings.ReplaceAll(string(sources), "Types: deb\n", "Types: deb-src\n")
	for _, name := range []string{"parts", "lists", "cache"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "parts", "debian.sources"), []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"update"}, {"source", "--download-only", "apache-curator"}} {
		apt := exec.Command("apt-get", append([]string{"-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=" + filepath.Join(dir, "parts"),
			"-o", "Dir::State::lists=" + filepath.Join(dir, "lists"), "-o", "Dir::Cache=" + filepath.Join(dir, "cache"), "-o", "APT::Sandbox::User=root"}, args...)...)
		apt.Dir = dir
		if said, err := apt.CombinedOutput(); err != nil {
			_, why, _ := strings.Cut(string(said), "\nE: ")
			why, _, _ = strings.Cut(why, "\n")
			realzk.NotRun(t, "Curator's own tests (Debian's source package cannot be fetched: "+why+")")
		}
	}
	t.Error("Debian's source package of Curator can be fetched here: add its tests to the suites")
}
