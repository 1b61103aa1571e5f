package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A line that ends in "want" has to be found, and no other.
const sample = `package sample

import (
	"context"

	"github.com/incumbent-go/incumbent"
)

func forgets(ctx context.Context, c *incumbent.Client, wait bool) {
	c.Create("/a", nil)                            // want CreateRequest
	c.Create("/a", nil).Parents().Ephemeral()      // want CreateRequest
	c.Set("/a", nil).Version(1)                    // want SetRequest
	(c.Delete("/a"))                               // want DeleteRequest
	defer c.Delete("/a").Version(1)                // want DeleteRequest
	go c.Sync("/a")                                // want Task
	_ = c.Get("/a")                                // want Request
	_, _ = c.Get("/b"), 1                          // want Request
	c.Exists("/a")                                 // want Request
	c.Children("/a")                               // want Request
	c.Multi(incumbent.DeleteNode("/a", 1))         // want Request
	func() { c.Sync("/a") }()                      // want Task
	make := func() *incumbent.Task { return c.Sync("/a") }
	make()                                         // want Task
}

func sends(ctx context.Context, c *incumbent.Client, wait bool) error {
	r := c.Create("/a", nil)
	if wait {
		r.Ephemeral() // changes what is sent below
	}
	r.Background(ctx, func(incumbent.Result) {})
	c.Delete("/a").Background(ctx, func(incumbent.Result) {})
	c.Delete("/a").Guaranteed()
	_, _ = c.Get("/a").Do(ctx)
	later := func(r *incumbent.Task) *incumbent.Task { _ = r.Do(ctx); return r }
	later(c.Sync("/a")) // what it is given is sent there
	return c.Sync("/a").Do(ctx)
}
`

// run runs the go command in a folder and returns what it said.
func run(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestGoVetFindsRequestsThatAreNeverSent(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "incumbentvet")
	if runtime.GOOS == "windows" {
		tool += ".exe"
	}
	if said, err := run(t, ".", "build", "-o", tool, "."); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod := "module example.com/sample\n\ngo 1.26\n\nrequire github.com/incumbent-go/incumbent v0.0.0\n\n" +
		"replace github.com/incumbent-go/incumbent => " + filepath.ToSlash(root) + "\n"
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(sums), "sample.go": sample} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	said, err := run(t, dir, "vet", "-vettool="+tool, ".")
	if err == nil {
		t.Error("go vet found nothing")
	}
	for i, line := range strings.Split(sample, "\n") {
		_, want, wanted := strings.Cut(line, "// want ")
		at := fmt.Sprintf("sample.go:%d:", i+1)
		found := strings.Contains(said, at)
		if found != wanted || wanted && !strings.Contains(said, "this "+want+" is never sent") {
			t.Errorf("line %d, %s: found %v\n%s", i+1, strings.TrimSpace(line), found, said)
		}
	}
}
