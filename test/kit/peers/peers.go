// Package peers finds the Curator and the kazoo whose programs share lines with this library's: the releases that make
// deps fetches, or Debian's where the environment variable INCUMBENT_PEERS is "debian", as make peers sets it.
package peers

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// Variable is the environment variable that chooses the peers: "debian" for those of Debian's packages, "" for today's.
const Variable = "INCUMBENT_PEERS"

// The releases of today's peers, which scripts/downloads.tsv has.
const (
	curatorToday = "5.9.0"
	kazooToday   = "2.11.0"
)

// today are the jars of Curator's newest release, and of what its POM asks for those that a client loads.
var today = []string{
	"curator-recipes-" + curatorToday, "curator-framework-" + curatorToday, "curator-client-" + curatorToday,
	"zookeeper-3.9.3", "zookeeper-jute-3.9.3", "guava-32.0.0-jre", "failureaccess-1.0.1",
	"netty-handler-4.1.113.Final", "slf4j-api-1.7.36", "slf4j-nop-1.7.36",
}

// finders are the jars of its x-discovery, which writes JSON.
var finders = []string{
	"curator-x-discovery-" + curatorToday, "jackson-annotations-2.18.1", "jackson-core-2.18.1",
	"jackson-databind-2.18.1",
}

// packaged are the jars of Debian's packages. Their manifests have what else they need.
var packaged = []string{"curator-recipes", "curator-framework", "curator-client", "guava", "zookeeper", "slf4j-nop"}

const debian = "/usr/share/java"

// Curator is a release of Apache Curator's recipes on this machine.
type Curator struct {
	Release realzk.Version
	Jars    []string // paths
}

// ClassPath returns the class path of programs in the folders given, and of Curator.
func (c Curator) ClassPath(classes ...string) string {
	return strings.Join(append(classes, c.Jars...), string(filepath.ListSeparator))
}

// FindCurator returns the chosen Curator. Where it, or a compiler for it, is missing, the test is skipped, or fails if
// everything is required.
func FindCurator(t testing.TB) Curator {
	t.Helper()
	c, err := LookForCurator()
	if err != nil {
		realzk.NotRun(t, "Curator ("+err.Error()+")")
	}
	return c
}

// FindDiscovery returns Curator's newest release with its x-discovery, whichever release is chosen: Debian has none.
func FindDiscovery(t testing.TB) Curator {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		realzk.NotRun(t, "Curator's x-discovery ("+err.Error()+")")
	}
	return Curator{Jars: Jars(t, "Curator's x-discovery", slices.Concat(finders, today)...)}
}

// LookForCurator returns the chosen Curator, or says what is missing of it or of a compiler for it.
func LookForCurator() (Curator, error) {
	old, err := debians()
	if err != nil {
		return Curator{}, err
	}
	if old {
		return LookForDebiansCurator()
	}
	if _, err := exec.LookPath("javac"); err != nil {
		return Curator{}, err
	}
	return in(cache("jars"), today, curatorToday)
}

// LookForDebiansCurator returns the Curator of Debian's packages, or says what is missing of it or of a compiler for
// it.
func LookForDebiansCurator() (Curator, error) {
	if _, err := exec.LookPath("javac"); err != nil {
		return Curator{}, err
	}
	release, err := linked(debian)
	if err != nil {
		return Curator{}, err
	}
	return in(debian, packaged, release)
}

// in returns the Curator whose jars are in a folder, or what is missing of it.
func in(folder string, names []string, release string) (c Curator, err error) {
	for _, name := range names {
		jar := filepath.Join(folder, name+".jar")
		if _, err := os.Stat(jar); err != nil {
			return c, fmt.Errorf("no %s.jar: make deps", name)
		}
		c.Jars = append(c.Jars, jar)
	}
	if n, err := fmt.Sscanf(release, "%d.%d.%d", &c.Release[0], &c.Release[1], &c.Release[2]); n < len(c.Release) {
		return c, fmt.Errorf("its release is %q, want a number such as 5.9.0: %w", release, err)
	}
	return c, nil
}

// linked returns the release of Curator in a folder of Debian's jars: it is in the name of a link to the recipes' jar.
func linked(folder string) (release string, err error) {
	before := filepath.Join(folder, packaged[0]+"-")
	links, err := filepath.Glob(before + "*.jar")
	if err != nil {
		return "", err
	}
	if len(links) != 1 {
		return "", fmt.Errorf("%s: want one link to Curator's recipes, found %q", folder, links)
	}
	return strings.TrimSuffix(strings.TrimPrefix(links[0], before), ".jar"), nil
}

// FindKazoo returns a Python interpreter with the chosen kazoo. Where there is none, the test is skipped, or fails if
// everything is required.
func FindKazoo(t testing.TB) (python string) {
	t.Helper()
	python, err := LookForKazoo()
	if err != nil {
		realzk.NotRun(t, "kazoo ("+err.Error()+")")
	}
	return python
}

// LookForKazoo returns a Python interpreter with the chosen kazoo, or says why there is none.
func LookForKazoo() (python string, err error) {
	old, err := debians()
	if err != nil {
		return "", err
	}
	python, from := cache("venv", "bin", "python3"), "in .cache/venv: make deps"
	if old {
		python, from = "/usr/bin/python3", "of Debian's package python3-kazoo"
	}
	said, err := exec.Command(python, "-c", "import kazoo.version; print(kazoo.version.__version__)").CombinedOutput()
	if err != nil {
		return "", errors.New("none " + from)
	}
	if release := strings.TrimSpace(string(said)); !old && release != kazooToday {
		return "", fmt.Errorf("%s, want %s %s", release, kazooToday, from)
	}
	return python, nil
}

// debians reports whether Debian's peers are chosen.
func debians() (bool, error) {
	switch which := os.Getenv(Variable); which {
	case "":
		return false, nil
	case "debian":
		return true, nil
	default:
		return false, fmt.Errorf("%s is %q: want debian, or nothing for today's peers", Variable, which)
	}
}

// Jars returns the paths of jars that make deps has fetched, by their names without .jar. If one is missing, the test
// of what is skipped, or fails if everything is required.
func Jars(t testing.TB, what string, names ...string) (paths []string) {
	t.Helper()
	c, err := in(cache("jars"), names, curatorToday)
	if err != nil {
		realzk.NotRun(t, what+" ("+err.Error()+")")
	}
	return c.Jars
}

// cache returns a path under .cache, into which make deps fetches.
func cache(names ...string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(append([]string{filepath.Dir(here), "..", "..", "..", ".cache"}, names...)...)
}
