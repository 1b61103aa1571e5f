package realzk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// Release is a release of ZooKeeper whose servers tests start.
type Release string

// The releases that every full proof starts.
const (
	// Usual is the release of INCUMBENT_ZK or ZOOKEEPER_HOME if one is set, else Debian's: 3.8.0 on Debian 12.
	Usual Release = ""
	// Newest is the newest release that is tried. make deps fetches its jars; what they need is Debian's.
	Newest Release = "3.9.5"
)

// Expected is the environment variable that names the usual release, such as 3.6.4. A server of another release is then
// an error.
const Expected = "INCUMBENT_ZK_RELEASE"

// met begins the line that a test logs when it has a server; the server's own word for its release follows.
const met = "met ZooKeeper "

// Met returns the release that a line of a test's output says its server has, "" if it says nothing of one.
func Met(line string) string {
	_, release, _ := strings.Cut(line, met)
	release, _, _ = strings.Cut(release, "\n")
	return release
}

// Each runs a test on the usual release, as "real", and on the newest one, as "newest". Where INCUMBENT_ZK or
// ZOOKEEPER_HOME names the server, the usual release is the only one.
func Each(t *testing.T, test func(t *testing.T, r Release)) {
	t.Helper()
	t.Run("real", func(t *testing.T) { test(t, Usual) })
	if given() == "" && os.Getenv("ZOOKEEPER_HOME") == "" {
		t.Run("newest", func(t *testing.T) { test(t, Newest) })
	}
}

// String returns the release's number, or "usual".
func (r Release) String() string {
	if r == Usual {
		return "usual"
	}
	return string(r)
}

// Require skips the test where no server could be started, or fails it where everything is required.
func Require(t testing.TB) { t.Helper(); Usual.Require(t) }

// Require skips the test where no server of the release could be started, or fails it where everything is required.
func (r Release) Require(t testing.TB) {
	t.Helper()
	if !selection.StartsServers(t) {
		NotRun(t, "real ZooKeeper (make prove starts it)")
	}
	if _, err := exec.LookPath("java"); err != nil {
		NotRun(t, "real ZooKeeper (no java)")
	}
	if ClassPath() == "" {
		NotRun(t, "real ZooKeeper (no zookeeper.jar)")
	}
	if r != Usual && (!strings.HasPrefix(ClassPath(), debian) || r.jars() == "") {
		NotRun(t, fmt.Sprintf("ZooKeeper %s (no jars: make deps)", r))
	}
}

// jars returns the release's part of the class path, or "" if it is missing.
func (r Release) jars() string {
	_, here, _, _ := runtime.Caller(0)
	cache := filepath.Join(filepath.Dir(here), "..", "..", "..", ".cache", "jars")
	var jars []string
	for _, name := range []string{"zookeeper", "zookeeper-jute"} {
		jar := filepath.Join(cache, name+"-"+string(r)+".jar")
		if _, err := os.Stat(jar); err != nil {
			return ""
		}
		jars = append(jars, jar)
	}
	return strings.Join(jars, ":")
}

func (r Release) classPath() string {
	if r == Usual {
		return ClassPath()
	}
	return r.jars() + ":" + ClassPath()
}

// Version is the number of a release: 3.8.6 is {3, 8, 6}.
type Version [3]int

// String returns the number with its dots.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// Before reports whether a release is older than another.
func (v Version) Before(other Version) bool { return slices.Compare(v[:], other[:]) < 0 }

// At logs which release the server at an address says it is, and returns it. The test fails if that is not the one it
// should be.
func (r Release) At(t testing.TB, addr string) Version {
	t.Helper()
	answer, err := Word(addr, "srvr")
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.confirmed(answer)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(met + v.String())
	return v
}

// confirmed returns the release that an answer to srvr names.
func (r Release) confirmed(answer string) (v Version, err error) {
	_, after, _ := strings.Cut(answer, "version: ")
	if n, _ := fmt.Sscanf(after, "%d.%d.%d-", &v[0], &v[1], &v[2]); n < len(v) {
		return v, fmt.Errorf("the server does not say its release:\n%s", answer)
	}
	want := string(r)
	if r == Usual {
		want = os.Getenv(Expected)
	}
	if want != "" && v.String() != want {
		return v, fmt.Errorf("the server is ZooKeeper %s, want %s", v, want)
	}
	return v, nil
}
