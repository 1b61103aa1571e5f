//go:build unix

package suites

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

// crate is the source of the Rust crate zookeeper-client, with its tests.
const crate = "zookeeper-client-0.11.2"

// rustRelease is the release that its tests are for: some want the answers of 3.9.
const rustRelease realzk.Release = "3.9.5"

// rust is the suite of the Rust crate zookeeper-client. Its tests start ZooKeeper in containers; a crate of the same
// name in testdata starts java in place of docker. Each test is a process, and runs plainly and by TLS.
func rust(t *testing.T) suite {
	t.Helper()
	rustRelease.Require(t)
	binary := buildRust(t)
	listed, err := exec.Command(binary, "--list").Output()
	if err != nil {
		t.Fatalf("%s --list: %v", binary, err)
	}
	return func(t *testing.T, s servers, bound time.Duration, _ []string) results {
		t.Helper()
		classPath := "none"
		if !s.hub {
			classPath = rustRelease.ClassPath()
		}
		todo, ended := make(chan string), make(chan results)
		go func() {
			defer close(todo)
			for line := range strings.Lines(string(listed)) {
				test, is := strings.CutSuffix(strings.TrimSpace(line), ": test")
				if is && !wantsDocker.MatchString(test) {
					todo <- "plain." + test
					todo <- "tls." + test
				}
			}
		}()
		var work sync.WaitGroup
		for range lanes {
			work.Go(func() {
				for test := range todo {
					how, name, _ := strings.Cut(test, ".")
					env := append(s.env[:len(s.env):len(s.env)], "SUITE_CLASSPATH="+classPath, "SUITE_DIR="+t.TempDir(),
						"ZK_TEST_TLS="+map[string]string{"plain": "false", "tls": "true"}[how])
					began := time.Now()
					said := run(t, min(bound, rustBound), t.TempDir(), env, binary, "--exact", name, "--nocapture")
					ended <- results{test: {parseRust(said), time.Since(began), said}}
				}
			})
		}
		go func() {
			work.Wait()
			close(ended)
		}()
		all := results{}
		for one := range ended {
			for test, result := range one {
				all[test] = result
			}
		}
		return all
	}
}

// wantsDocker are tests that need the network of docker, or images of ZooKeeper 3.3 and 3.4.
var wantsDocker = regexp.MustCompile("^test_(readonly_|update_ensemble$|zookeeper_old_server)")

// rustBound ends a test that hangs. The longest waits for two timeouts of a session.
const rustBound = 5 * time.Minute

var rustEnded = regexp.MustCompile(`(?m)^test result: (ok|FAILED)\. (\d+) passed; \d+ failed; (\d+) ignored`)

// parseRust reads what a process printed that ran one test. One that printed no result has failed.
func parseRust(said string) outcome {
	switch r := rustEnded.FindStringSubmatch(said); {
	case r == nil || r[1] != "ok":
		return failed
	case r[2] == "1":
		return passed
	default:
		return skipped
	}
}

//go:embed testdata/rust/Cargo.lock
var rustLock []byte

// rustNeeds names the crate in place of testcontainers, which the tests take from a repository.
const rustNeeds = "\n[dev-dependencies.testcontainers]\npath = \"../testcontainers\"\n\n[workspace]\n"

// buildRust compiles the tests of the crate.
func buildRust(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("cargo"); err != nil {
		realzk.NotRun(t, "the tests of zookeeper-client (no cargo)")
	}
	root, err := filepath.Abs("../../../.cache")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(root, "crates", crate+".crate"))
	if err != nil {
		realzk.NotRun(t, "the tests of zookeeper-client ("+err.Error()+": make foreign fetches it)")
	}
	into := t.TempDir()
	if err := unpack(into, packed); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(into, "testcontainers"), os.DirFS("testdata/rust")); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(into, crate, "Cargo.toml")
	text, err := os.ReadFile(manifest)
	err = errors.Join(err, os.WriteFile(manifest, append(text, rustNeeds...), 0o600),
		os.WriteFile(filepath.Join(into, crate, "Cargo.lock"), rustLock, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("cargo", "test", "--locked", "--no-run", "--test", "zookeeper",
		"--features", "tokio,tls,sasl-digest-md5", "--message-format", "short")
	build.Dir = filepath.Join(into, crate)
	build.Env = append(os.Environ(), "CARGO_TARGET_DIR="+filepath.Join(root, "rust"), "CARGO_PROFILE_TEST_DEBUG=0")
	said, err := build.CombinedOutput()
	found := regexp.MustCompile(`Executable .*\(([^()]*)\)\s*$`).FindSubmatch(bytes.TrimSpace(said))
	if err != nil || found == nil {
		t.Fatalf("cargo test --no-run: %v\n%s", err, said)
	}
	return string(found[1])
}

// unpack writes the files of a .crate, a tar packed by gzip, into a folder.
func unpack(into string, packed []byte) error {
	files, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for all := tar.NewReader(files); ; {
		head, err := all.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(head.Name) {
			return errors.New(head.Name + " lies elsewhere")
		}
		file := filepath.Join(into, head.Name)
		content, err := io.ReadAll(all)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, content, 0o600))
		if err != nil {
			return err
		}
	}
}
