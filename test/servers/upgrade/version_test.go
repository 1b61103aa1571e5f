package upgrade

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/servers/upgrade/agent"
)

// oldCommit is the version that the present one is compared with.
const oldCommit = "a4cd5c49a1efb794bc13110d062aa9ddd67f14af"

const root = "../../.."

// version is one of the two.
type version struct {
	name    string // "old" or "new"
	command func(agent.Orders) *exec.Cmd
}

var present = version{"new", func(o agent.Orders) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), job+"="+strings.Join(o.Words(), " "))
	return cmd
}}

// errNoCommit says that this clone does not have the older version.
var errNoCommit = errors.New("git has no commit " + oldCommit[:7])

// built is the older version's agent, compiled by the first test that uses it. The program is deleted at the end of the
// test binary only if that is kept here: its folder is that of the checkout's other caches.
var built = sync.OnceValues(buildOld)

// errNoModules says that the modules of the older version cannot be had: they are neither in Go's cache nor to be
// downloaded.
var errNoModules = errors.New("the modules that " + oldCommit[:7] + " needs cannot be downloaded")

// older returns the older version. A clone without its commit, such as a shallow one, cannot run the test, nor can a
// machine without its modules: where everything is required that is a failure.
func older(t testing.TB) version {
	t.Helper()
	program, err := built()
	if errors.Is(err, errNoCommit) {
		realzk.NotRun(t, fmt.Sprintf("two versions at once (%v: git fetch --unshallow gets it)", err))
	}
	if errors.Is(err, errNoModules) {
		realzk.NotRun(t, fmt.Sprintf("two versions at once (%v)", err))
	}
	if err != nil {
		t.Fatal(err)
	}
	return version{"old", func(o agent.Orders) *exec.Cmd { return exec.Command(program, o.Words()...) }}
}

// buildOld compiles the agent with the older version's packages, from what git has. Source and program stay in the
// checkout's folder of caches, so that Go's own cache finds the packages again in the next run.
func buildOld() (program string, err error) {
	dir, err := filepath.Abs(filepath.Join(root, ".cache", "upgrade", oldCommit[:7]))
	if err != nil {
		return "", err
	}
	if err := extract(dir); err != nil {
		return "", err
	}
	if said, err := goIn(dir, "mod", "download").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: go mod download: %w, %s", errNoModules, err, bytes.TrimSpace(said))
	}
	overlay, err := os.CreateTemp("", "upgrade-*.json")
	if err != nil {
		return "", err
	}
	defer os.Remove(overlay.Name())
	defer overlay.Close()
	if err := writeOverlay(overlay, dir); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "agent")
	if said, err := goIn(dir, "build", "-overlay", overlay.Name(), "-ldflags=-s -w", "-o", program,
		"./test/servers/upgrade/cmd").CombinedOutput(); err != nil {
		return "", fmt.Errorf("the agent does not compile with %s: %w\n%s", oldCommit[:7], err, said)
	}
	return program, nil
}

// goIn is a go command in the older version's folder.
func goIn(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	return cmd
}

// writeOverlay puts the agent that is here into the older version's tree.
func writeOverlay(w io.Writer, dir string) error {
	replace := map[string]string{}
	for _, folder := range []string{"agent", "cmd"} {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return err
		}
		for _, file := range files {
			here, err := filepath.Abs(file)
			if err != nil {
				return err
			}
			replace[filepath.Join(dir, "test", "servers", "upgrade", file)] = here
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"Replace": replace})
}

// extract writes the older version's packages to dir, unless an earlier run has.
func extract(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	known := exec.Command("git", "cat-file", "-e", oldCommit+"^{commit}")
	known.Dir = root
	if said, err := known.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: git cat-file: %w, %s", errNoCommit, err, bytes.TrimSpace(said))
	}
	archive := exec.Command("git", "archive", oldCommit, "--", "go.mod", "go.sum", ":(glob)*.go", "engine", "events",
		"machines", "zkio",
		":(exclude)machines/testdata")
	archive.Dir = root
	content, err := archive.Output()
	if err != nil {
		return fmt.Errorf("git archive %s: %w", oldCommit[:7], err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "extract-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := untar(bytes.NewReader(content), temp); err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, there := os.Stat(filepath.Join(dir, "go.mod")); there != nil {
			return err
		} // another run was faster
	}
	return nil
}

func untar(r io.Reader, dir string) error {
	for files := tar.NewReader(r); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeReg:
			err = writeFile(path, files)
		}
		if err != nil {
			return err
		}
	}
}

func writeFile(path string, r io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}
