package embed

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The operators' program is built by its path, as go install does it, in a module
// that only requires this one. Its bare name prints help.
func TestIncumbentIsBuiltByItsPath(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	code, _ := snippet(t, root)
	dir := embedder(t, root, code)
	program := filepath.Join(dir, "incumbent")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	command(t, dir, "go", "build", "-o", program, "github.com/incumbent-go/incumbent/cmd/incumbent")
	if help := command(t, dir, program); !strings.Contains(help, "Available Commands:") ||
		strings.Contains(help, "ZooKeeper in memory, on ") {
		t.Errorf("its bare name prints\n%s", help)
	}
	if version := command(t, dir, program, "--version"); !strings.Contains(version,
		runtime.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("--version prints %q", version)
	}
}
