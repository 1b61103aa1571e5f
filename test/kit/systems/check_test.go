package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// write makes a module with these files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.25\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestMistakesOfOtherSystems: what compiles here and not there is found, in a test's file, too.
func TestMistakesOfOtherSystems(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"sound": {map[string]string{"a.go": "package m\n\nimport \"os\"\n\nvar A = os.Getpid()\n",
			"a_test.go": "package m_test\n\nimport \"testing\"\n\nfunc TestA(*testing.T) {}\n"}, ""},
		"not there": {map[string]string{"a.go": "package m\n\nimport \"syscall\"\n\nfunc A() { syscall.Kill(1, 0) }\n"},
			"undefined: syscall.Kill"},
		"missing half": {map[string]string{"a.go": "package m\n\nvar A = b\n",
			"a_linux.go": "package m\n\nvar b = 1\n"}, "undefined: b"},
		"in a test": {map[string]string{"a.go": "package m\n",
			"a_windows_test.go": "package m\n\nvar c int = \"1\"\n"}, "cannot use"},
		"unused": {map[string]string{"a_windows.go": "package m\n\nimport \"os\"\n", "a.go": "package m\n"},
			"imported and not used"},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := check(write(t, c.files), "windows", "amd64", "./...")
			if c.want == "" {
				if err != nil || n == 0 {
					t.Fatalf("%d packages, %v", n, err)
				}
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAnUnknownSystem(t *testing.T) {
	if _, err := check(write(t, map[string]string{"a.go": "package m\n"}), "windows", "none", "./..."); err == nil {
		t.Fatal("no error")
	}
}
