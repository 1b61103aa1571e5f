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
	"github.com/incumbent-go/incumbent/zkio"
)

// Release is a release of ZooKeeper whose servers tests start.
type Release string

// The releases that every full proof starts.
const (
	// Usual is the release of INCUMBENT_ZK or ZOOKEEPER_HOME if one is set, else that of INCUMBENT_ZK_RELEASE, else
	// Debian's: 3.8.0 on Debian 12.
	Usual Release = ""
	// Newest is the newest release that is tried. make deps fetches its jars; what they need is Debian's.
	Newest Release = "3.9.5"
)

// Variable is the environment variable that names the usual release, such as 3.6.4. Its jars are those that make
// servers has fetched, or Debian's, and a server of another release is an error.
const Variable = "INCUMBENT_ZK_RELEASE"

// met begins the line that a test logs when it has a server; the server's own word for its release follows.
const met = "met ZooKeeper "

// Met returns the release that a line of a test's output says its server has, "" if it says nothing of one.
func Met(line string) string {
	_, release, _ := strings.Cut(line, met)
	release, _, _ = strings.Cut(release, "\n")
	return release
}

// Each runs a test on the usual release, as "real", and on the newest one, as "newest". Where a variable names the
// usual release, it is the only one.
func Each(t *testing.T, test func(t *testing.T, r Release)) {
	t.Helper()
	t.Run("real", func(t *testing.T) { test(t, Usual) })
	if given() == "" && home() == "" && os.Getenv(Variable) == "" {
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
	if r.ClassPath() != "" {
		return
	}
	if r == Usual {
		NotRun(t, "real ZooKeeper (no zookeeper.jar)")
	}
	NotRun(t, fmt.Sprintf("ZooKeeper %s (no jars: make deps)", r))
}

// ClassPath returns the class path of the usual release, or "" if it is missing.
func ClassPath() string { return Usual.ClassPath() }

// ClassPath returns the class path of the release, or "" if it is missing.
func (r Release) ClassPath() string {
	if r == Usual && home() != "" {
		if jars, _ := filepath.Glob(filepath.Join(home(), "lib", "zookeeper-*.jar")); len(jars) > 0 {
			return filepath.Join(home(), "lib", "*")
		}
		return ""
	}
	if named := Release(os.Getenv(Variable)); r == Usual && named != Usual {
		return named.ClassPath()
	}
	if r == Usual || r.debians() {
		if _, err := os.Stat(debian + "/zookeeper.jar"); err != nil {
			return ""
		}
		// The manifest has what it needs, but for two of netty's jars and a logger; what is not there is not missed.
		return strings.Join(under(debian, "zookeeper", "slf4j-simple", "netty-codec", "netty-resolver"), ":")
	}
	own := under(fetched(), "zookeeper-"+string(r))
	if !slices.Contains(withoutJute, r) {
		own = append(own, under(fetched(), "zookeeper-jute-"+string(r))...)
	}
	for _, jar := range append(own, debian+"/slf4j-simple.jar") {
		if _, err := os.Stat(jar); err != nil {
			return ""
		}
	}
	return strings.Join(append(own, under(debian, needed...)...), ":")
}

const debian = "/usr/share/java"

// withoutJute are releases whose serialization is in the same jar.
var withoutJute = []Release{"3.4.14"}

// debians reports whether Debian's packages have the release.
func (r Release) debians() bool {
	_, err := os.Stat(debian + "/zookeeper-" + string(r) + ".jar")
	return err == nil
}

// fetched returns the folder into which make deps and make servers fetch jars.
func fetched() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..", "..", ".cache", "jars")
}

// under returns the paths of jars in a folder.
func under(folder string, names ...string) (jars []string) {
	for _, name := range names {
		jars = append(jars, filepath.Join(folder, name+".jar"))
	}
	return jars
}

// needed are the jars that every release needs besides its own. Debian's are taken.
var needed = []string{
	"slf4j-api", "slf4j-simple", "netty-common", "netty-buffer", "netty-codec", "netty-handler", "netty-resolver",
	"netty-transport", "netty-transport-native-unix-common", "netty-transport-native-epoll", "metrics-core",
	"snappy-java", "commons-io", "log4j-1.2",
}

func home() string { return os.Getenv("ZOOKEEPER_HOME") }

// Version is the number of a release: 3.8.6 is {3, 8, 6}.
type Version = zkio.Release

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
	if v = zkio.ParseRelease(after); !v.Known() {
		return v, fmt.Errorf("the server does not say its release:\n%s", answer)
	}
	want := string(r)
	if r == Usual {
		want = os.Getenv(Variable)
	}
	if want != "" && v.String() != want {
		return v, fmt.Errorf("the server is ZooKeeper %s, want %s", v, want)
	}
	return v, nil
}
