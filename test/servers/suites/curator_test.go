//go:build unix

package suites

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/peers"
)

// testJars are Curator's tests, as they are published, and what else they need.
var testJars = []string{
	"curator-client-5.9.0-tests", "curator-framework-5.9.0-tests", "curator-recipes-5.9.0-tests", "curator-test-5.9.0",
	"junit-platform-console-standalone-1.9.3", "commons-math-2.2", "assertj-core-3.23.1", "awaitility-4.1.1",
	"hamcrest-2.1",
	"jackson-annotations-2.18.1", "jackson-core-2.18.1", "jackson-databind-2.18.1", "jackson-dataformat-yaml-2.18.1",
	"byte-buddy-1.12.10", "snakeyaml-2.3",
}

// curatorsPackage begins the names of all its tests. Tables leave it out.
const curatorsPackage = "org.apache.curator."

// curator is the suite of Curator. Its harness is a jar: a class that stands before that has the hub serve.
func curator(t *testing.T) suite {
	t.Helper()
	found := peers.FindCurator(t)
	found.Jars = append(found.Jars, peers.Jars(t, "Curator's own tests", testJars...)...)
	classes := t.TempDir()
	source := filepath.Join("testdata", "java", "ZooKeeperServerEmbeddedAdapter.java")
	said, err := exec.Command("javac", "-J-Xmx128m", "-cp", found.ClassPath(), "-d", classes, source).CombinedOutput()
	if err != nil {
		t.Fatalf("javac: %v\n%s", err, said)
	}
	return func(t *testing.T, s servers, bound time.Duration, tests []string) results {
		t.Helper()
		dir := t.TempDir()
		args := []string{
			"java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", found.ClassPath(classes),
			"org.junit.platform.console.ConsoleLauncher", "--disable-banner", "--details=none", "--reports-dir=" + dir,
			"--config=junit.jupiter.execution.timeout.default=100s",
		}
		for _, test := range tests {
			dot := strings.LastIndexByte(test, '.')
			args = append(args, "--select-method="+curatorsPackage+test[:dot]+"#"+test[dot+1:])
		}
		said := run(t, bound, dir, s.env, args...)
		text, err := os.ReadFile(filepath.Join(dir, "TEST-junit-jupiter.xml"))
		if err != nil {
			t.Fatalf("JUnit wrote no report: %v\n%s", err, said)
		}
		all, err := parseJUnit(text)
		if err != nil {
			t.Fatal(err)
		}
		short := results{}
		for name, one := range all {
			short[strings.TrimPrefix(name, curatorsPackage)] = one
		}
		return short
	}
}
