//go:build unix

package suites

import (
	"archive/zip"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/peers"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// testJars are Curator's tests, as they are published, and what else they need.
var testJars = []string{
	"curator-client-5.9.0-tests", "curator-framework-5.9.0-tests", "curator-recipes-5.9.0-tests", "curator-test-5.9.0",
	"junit-platform-console-standalone-1.9.3", "commons-math-2.2", "assertj-core-3.23.1", "awaitility-4.1.1",
	"hamcrest-2.1",
	"jackson-annotations-2.18.1", "jackson-core-2.18.1", "jackson-databind-2.18.1", "jackson-dataformat-yaml-2.18.1",
	"byte-buddy-1.12.10", "snakeyaml-2.3",
}

// withTests are the jars whose tests run.
var withTests = testJars[:3]

// curatorsPackage begins the names of all its tests. Tables leave it out.
const curatorsPackage = "org.apache.curator."

// lanes is how many classes of the whole suite run at a time, each in a JVM of its own.
const lanes = 3

// java is what a suite of JUnit needs to run.
type java struct {
	real, zkmem string // class paths
}

// curator is the suite of Curator.
func curator(t *testing.T) suite {
	t.Helper()
	found := peers.FindCurator(t)
	found.Jars = append(found.Jars, peers.Jars(t, "Curator's own tests", testJars...)...)
	return newJava(t, found).suite(func(t *testing.T) []string { return classesOf(t, withTests) })
}

// newJava returns class paths that begin with the folders given. Curator's harness is a jar, which starts servers in
// its own process. On zkmem a class stands before the one that does, and has the hub serve.
func newJava(t *testing.T, found peers.Curator, before ...string) java {
	t.Helper()
	classes := t.TempDir()
	source := filepath.Join("testdata", "java", "ZooKeeperServerEmbeddedAdapter.java")
	compile(t, found.ClassPath(), classes, source)
	// What Curator's newest ZooKeeper needs to serve, of what is on the machine for another release.
	return java{found.ClassPath(before...) + ":" + realzk.ClassPath(), found.ClassPath(append(before, classes)...)}
}

// compile compiles sources of Java into a folder.
func compile(t *testing.T, classPath, into string, sources ...string) {
	t.Helper()
	said, err := exec.Command("javac", append([]string{"-J-Xmx256m", "-nowarn", "-cp", classPath, "-d", into},
		sources...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, said)
	}
}

// suite returns the suite that runs the tests named, or those of all classes.
func (j java) suite(classes func(*testing.T) []string) suite {
	return func(t *testing.T, s servers, bound time.Duration, tests []string) results {
		t.Helper()
		if len(tests) > 0 {
			var chosen []string
			for _, test := range tests {
				dot := strings.LastIndexByte(test, '.')
				chosen = append(chosen, "--select-method="+curatorsPackage+test[:dot]+"#"+test[dot+1:])
			}
			all, err := j.run(t, s, bound, chosen...)
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		return j.whole(t, s, bound, classes(t))
	}
}

// whole runs all tests of the classes given, and begins with the first.
func (j java) whole(t *testing.T, s servers, bound time.Duration, classes []string) results {
	t.Helper()
	todo := make(chan string, len(classes))
	for _, class := range classes {
		todo <- class
	}
	close(todo)
	all := results{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for range lanes {
		work.Go(func() {
			for class := range todo {
				of, err := j.run(t, s, bound, "--select-class="+curatorsPackage+class)
				if err != nil {
					of = results{class: {outcome: failed, said: err.Error()}}
				}
				mu.Lock()
				maps.Copy(all, of)
				mu.Unlock()
			}
		})
	}
	work.Wait()
	return all
}

// run runs what is chosen in one JVM.
func (j java) run(t *testing.T, s servers, bound time.Duration, chosen ...string) (results, error) {
	t.Helper()
	dir, classPath := t.TempDir(), j.real
	if s.hub {
		classPath = j.zkmem
	}
	said := run(t, bound, dir, s.env, append([]string{
		"java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-cp", classPath,
		"org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--details=none", "--reports-dir=" + dir,
		"--config=junit.jupiter.execution.timeout.default=150s",
	}, chosen...)...)
	text, err := os.ReadFile(filepath.Join(dir, "TEST-junit-jupiter.xml"))
	if err != nil {
		return nil, fmt.Errorf("JUnit wrote no report: %w\n%s", err, said)
	}
	all, err := parseJUnit(text)
	if err != nil {
		return nil, err
	}
	short := results{}
	for name, one := range all {
		short[strings.TrimPrefix(name, curatorsPackage)] = one
	}
	return short, nil
}

// classesOf returns the names of the classes of tests in Curator's jars, without what they all begin with.
func classesOf(t *testing.T, jars []string) (names []string) {
	t.Helper()
	folder := strings.ReplaceAll(curatorsPackage, ".", "/")
	for _, jar := range peers.Jars(t, "Curator's own tests", jars...) {
		r, err := zip.OpenReader(jar)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, f := range r.File {
			name, class := strings.CutSuffix(strings.TrimPrefix(f.Name, folder), ".class")
			if class && strings.HasPrefix(path.Base(name), "Test") && !strings.Contains(name, "$") {
				names = append(names, strings.ReplaceAll(name, "/", "."))
			}
		}
	}
	slices.Sort(names)
	return names
}
