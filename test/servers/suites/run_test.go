//go:build unix

package suites

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/cmd/incumbent/group"
)

// run runs a command in a directory to its end and returns what it printed on standard output. What it started and left
// behind is killed, and so is everything if the command takes longer than the bound.
func run(t *testing.T, bound time.Duration, dir string, env []string, command ...string) string {
	t.Helper()
	g, err := group.New(nil, guard)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	said, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env, c.Stdout, c.Stderr = dir, append(os.Environ(), env...), out, said
	err = g.Run(c)
	if err == nil {
		select {
		case <-g.Done():
		case <-time.After(bound):
			t.Errorf("%s: has not ended within %s, and is killed", command[0], bound)
		}
	}
	if killed := g.Kill(); err != nil || killed != nil {
		t.Fatal(command, err, killed)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%q wrote to standard error:\n%s", command[0], tail(said.Name()))
		}
	})
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tail returns the end of a file.
func tail(name string) string {
	const most = 8 << 10
	text, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
