//go:build unix

package main_test

import (
	"debug/buildinfo"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/cli"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// Both programs say what they were built from, and no more than that.
func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"incumbent", "demo"} {
		for _, flags := range selection.Some(t, "ways to build", 0, 1, []string{"-buildvcs=auto", "-buildvcs=false"}) {
			binary := filepath.Join(dir, name)
			args := append(append([]string{"build"}, strings.Fields(flags)...), "-o", binary, "../"+name)
			if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			out, err := exec.CommandContext(within(t), binary, "--version").Output()
			if err != nil {
				t.Fatal(err)
			}
			info, err := buildinfo.ReadFile(binary)
			if err != nil {
				t.Fatal(err)
			}
			if want := cli.Version(name, info) + "\n"; string(out) != want {
				t.Errorf("%s %s says %q, want %q", name, flags, out, want)
			}
			plain := name + " (devel), commit unknown, " + runtime.Version() + ", " + runtime.GOOS + "/" +
				runtime.GOARCH + "\n"
			if strings.Contains(flags, "false") && string(out) != plain {
				t.Errorf("%s %s says %q, want %q", name, flags, out, plain)
			}
			t.Logf("%s: %s", flags, out)
		}
	}
}
