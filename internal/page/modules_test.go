package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func node(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		realzk.NotRun(t, "the page's modules (no node)")
	}
	return node
}

func runs(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
}

// Node's own test runner runs the tests of the modules that know no browser.
func TestModules(t *testing.T) {
	tests, err := filepath.Glob(filepath.Join("testdata", "modules", "*.test.mjs"))
	if err != nil || len(tests) < 3 {
		t.Fatalf("%q, %v", tests, err)
	}
	runs(t, node(t), append([]string{"--test"}, tests...)...)
}

// TypeScript's compiler checks the types of all modules. It writes nothing.
func TestTheTypesOfTheModules(t *testing.T) {
	tsc := filepath.Join("..", "..", ".cache", "npm", "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		realzk.NotRun(t, "the types of the page's modules (no TypeScript: make deps)")
	}
	runs(t, node(t), tsc, "-p", ".")
}

// What would read a text as markup or as a program, or load something.
var unsafe = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new ` +
	`Function|setTimeout\(['"]|srcdoc|createContextualFragment|\bfetch\(|XMLHttpRequest|import\(|javascript:`)

// A log may say anything: the page has no way to take it for markup.
func TestTextsAreNoMarkup(t *testing.T) {
	if !unsafe.MatchString("e.innerHTML = x") {
		t.Error("a breach is not found")
	}
	s, err := newShell()
	if err != nil {
		t.Fatal(err)
	}
	if found := unsafe.FindString(s.script + s.html); found != "" || len(s.script) < 10_000 {
		t.Errorf("the page has %q", found)
	}
}
