//go:build unix

package suites

import (
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/allserve.txt
var allServe string

// goZooKeeper is the suite of go-zookeeper, at the version that go.mod names. It needs nothing but Go and a shell.
func goZooKeeper(t *testing.T) suite {
	t.Helper()
	binary := buildGoZooKeeper(t)
	return func(t *testing.T, s servers, bound time.Duration, tests []string) results {
		t.Helper()
		args := []string{binary, "-test.v", "-test.timeout=" + bound.String()}
		if len(tests) > 0 {
			args = append(args, "-test.run=^("+strings.Join(tests, "|")+")$")
		}
		// Without ZK_VERSION its tests of reconfig are skipped.
		return parseGo(run(t, bound+time.Minute, t.TempDir(), append(s.env, "ZK_VERSION="+version), args...))
	}
}

// buildGoZooKeeper copies the sources from the module cache, changes the one line that cannot read the answers of 3.6
// and later, and compiles the tests.
func buildGoZooKeeper(t *testing.T) string {
	t.Helper()
	from, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/go-zookeeper/zk").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "zk")
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(string(from)))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "server_help_test.go")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const cannotRead, instead = "_, ok := FLWSrvr(serverAddrs, time.Second)", "ok := allServe(serverAddrs)"
	if strings.Count(string(text), cannotRead) != 1 {
		t.Fatalf("go-zookeeper has changed: %s has no line %q", file, cannotRead)
	}
	for name, text := range map[string]string{file: strings.Replace(string(text), cannotRead, instead, 1),
		filepath.Join(dir, "allserve_test.go"): allServe} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "test", "-c", "-vet=off", "-o", "zk.test", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, said)
	}
	return filepath.Join(dir, "zk.test")
}
