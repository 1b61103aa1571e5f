// Package embed does what the README says: its example is put into a module of its
// own with the README's lines for go.mod, built there, and run against an in-memory
// ZooKeeper.
package embed

import (
	"bytes"
	"context"
	"go/format"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// example is a page's example, and the file that has it.
var example = regexp.MustCompile("(?s)<!-- embed (\\S+) -->\n```go\n(.*?)```\n<!-- /embed -->")

// module is what the README has a newcomer add to go.mod.
var module = regexp.MustCompile("(?s)```\n(require .*?\nreplace \\S+ => )\\.\\./incumbent\n```")

// maxLines is how long the README's example may be.
const maxLines = 45

func readme(t *testing.T, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// snippet returns the README's example, and the name of the file it is from.
func snippet(t *testing.T, root string) (code, file string) {
	t.Helper()
	found := example.FindStringSubmatch(readme(t, root))
	if found == nil {
		t.Fatalf("README.md has no example that matches %s", example)
	}
	return found[2], found[1]
}

// embedder writes a module that uses this one as the README says. The sums are
// this module's own, so nothing is fetched but, if the module cache is new,
// the go.mod of an older golang.org/x/sys: building this module never needs it,
// and go mod tidy does.
func embedder(t *testing.T, root, code string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	lines := module.FindStringSubmatch(readme(t, root))
	if lines == nil {
		t.Fatalf("README.md has no lines for go.mod that match %s", module)
	}
	mod := "module example.com/embedder\n\ngo 1.26\n\n" + lines[1] + filepath.ToSlash(root) + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(sums), "main.go": code} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// command runs a program in the directory and returns what it said.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	said, err := try(t, dir, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, said)
	}
	return said
}

// try is command of what may fail.
func try(t *testing.T, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*repeat.Enough) // a compiler may be behind it
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTheReadmesExampleRunsInAModuleOfItsOwn(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	code, file := snippet(t, root)
	if formatted, err := format.Source([]byte(code)); err != nil || !bytes.Equal(formatted, []byte(code)) {
		t.Errorf("the README's example is not as gofmt has it: %v", err)
	}
	if lines := strings.Count(code, "\n"); lines > maxLines {
		t.Errorf("the README's example has %d lines\n\twhy not: it has to be read on one screen, so it has at most %d",
			lines, maxLines)
	}
	if text := unixText(t, filepath.Join(root, filepath.FromSlash(file))); !strings.HasSuffix(text, "\n"+code) {
		t.Errorf("%s does not end with the README's example, line by line", file)
	}
	dir := embedder(t, root, code)
	command(t, dir, "go", "mod", "tidy")
	mustRequire(t, dir)
	binary := filepath.Join(dir, "embedder")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	command(t, dir, "go", "build", "-o", binary, ".")
	t.Run("leads", func(t *testing.T) { mustLead(t, dir, binary) })
	t.Run("ends by SIGTERM without a server", func(t *testing.T) { mustEnd(t, binary) })
}

// mustLead runs the example against a server in memory.
func mustLead(t *testing.T, dir, program string) {
	srv := zkmem.Start(t)
	said := command(t, dir, program, srv.Addr())
	if !regexp.MustCompile(`leading with token [1-9]\d*\n`).MatchString(said) {
		t.Errorf("the example said %q", said)
	}
	srv.View(func(v *zkmem.View) {
		if left := v.Children("/jobs/nightly"); !v.Exists("/jobs/nightly") || len(left) != 0 || len(v.Sessions()) != 0 {
			t.Errorf("the example left %v in the line, and %d sessions", left, len(v.Sessions()))
		}
	})
}

// mustEnd runs the example where no server answers, and asks it to terminate.
func mustEnd(t *testing.T, program string) {
	if runtime.GOOS == "windows" {
		t.Skip("not run: Windows has no SIGTERM")
	}
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = nobody.Close() }()
	cmd := exec.Command(program, nobody.Addr().String())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	conn, err := nobody.Accept() // the example is up, and asks for a session
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil || !strings.Contains(said.String(), "Run was cancelled while it could not lead") {
			t.Errorf("the example ended with %v and said %q: want exit code 0, as the stop was planned, and why "+
				"it has not led",
				err, said.String())
		}
	case <-time.After(repeat.Enough): // two seconds, as a rule
		t.Error("the example goes on after SIGTERM while no server can be reached")
	}
}

// mustRequire fails when the embedding module's go.mod names more than what an
// embedding program links.
func mustRequire(t *testing.T, dir string) {
	t.Helper()
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+ // indirect$`).FindAllStringSubmatch(string(mod), -1) {
		got = append(got, m[1])
	}
	want := []string{
		"github.com/go-zookeeper/zk", "github.com/looplab/fsm", "github.com/mattn/go-colorable",
		"github.com/mattn/go-isatty", "github.com/rs/zerolog", "golang.org/x/sys",
	}
	if !slices.Equal(got, want) {
		t.Errorf("an embedding module requires %v, instead of %v", got, want)
	}
}
