package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// lay writes files into a new folder.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const failing = "package x\nimport \"testing\"\nfunc TestBad(t *testing.T) { t.Error(\"wrong\") }\n"

func TestNestedModulesAreTested(t *testing.T) {
	dir := lay(t, map[string]string{
		"go.mod":                     "module example.com/root\n\ngo 1.25\n",
		"docs/new/go.mod":            "module example.com/new\n\ngo 1.25\n",
		"docs/new/x_test.go":         failing,
		"docs/lost/go.mod":           "module example.com/lost\n\ngo 1.25\n\nrequire example.invalid/nowhere v1.0.0\n",
		"docs/lost/x_test.go":        failing,
		".cache/module/go.mod":       "module example.com/cached\n",
		"machines/testdata/x/go.mod": "module example.com/data\n",
		"test/adopters/x/go.mod":     "module example.com/adopter\n\nrequire example.invalid/nowhere v1.0.0\n",
	})
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "")
	for _, require := range []bool{false, true} {
		var b strings.Builder
		tally := newTally(&b, require)
		err := runNested(tally, dir, []string{"-count=1", "./..."})
		good := tally.end(err, time.Second)
		said := b.String()
		if good || !strings.Contains(said, "wrong") || !strings.Contains(said, "FAIL\texample.com/new") {
			t.Errorf("the failing test of a nested module: good %v\n%s", good, said)
		}
		if strings.Contains(said, "adopter") {
			t.Errorf("a module of make adopters is run:\n%s", said)
		}
		if lost := "docs/lost (what it depends on cannot be fetched)"; strings.Count(said, lost) !=
			map[bool]int{false: 1, true: 2}[require] {
			t.Errorf("required %v: not run: %s?\n%s", require, lost, said)
		}
	}
}

func TestNestedModulesAreFound(t *testing.T) {
	dirs, err := nested(filepath.Join("..", "..", ".."))
	if err != nil || !slices.Contains(dirs, filepath.Join("..", "..", "..", "docs", "examples")) {
		t.Errorf("found %q, %v", dirs, err)
	}
}

// Packages are run in the modules that they belong to, and with the other arguments.
func TestPackagesGoToTheirModules(t *testing.T) {
	dirs := []string{"bench", filepath.FromSlash("test/servers/browser")}
	for _, c := range []struct{ args, want string }{
		{"-count=1", ".: -count=1"},
		{"-run X " + module + "/why", ".: -run X " + module + "/why"},
		{"-run X " + module + " " + module + "/test/servers/browser",
			".: -run X " + module + " | test/servers/browser: -run X " + module + "/test/servers/browser"},
		{"-v " + module + "/bench/stats " + module + "/bench " + module + "/benchmark",
			".: -v " + module + "/benchmark | bench: -v " + module + "/bench/stats " + module + "/bench"},
		{"-v " + module + "/bench", "bench: -v " + module + "/bench"},
	} {
		var got []string
		for _, m := range byModule(strings.Fields(c.args), dirs) {
			got = append(got, filepath.ToSlash(m.dir)+": "+strings.Join(m.args, " "))
		}
		if all := strings.Join(got, " | "); all != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.args, all, c.want)
		}
	}
}
