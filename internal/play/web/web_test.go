package web

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

var inPage = regexp.MustCompile(`(?s)content="([^"]*)">\n<meta name="viewport.*<style>(.*?)</style>.*<script ` +
	`type="module">(.*?)</script>`)

// The page names nothing outside of it, and its policy allows its own script and style, and to ask where it came from.
func TestThePolicy(t *testing.T) {
	for use, wants := range map[Use]struct {
		ends, back string
	}{Server: {"form-action 'none'; connect-src 'self'", "server"},
		Static: {"form-action 'none'; connect-src 'self'; worker-src 'self'", "worker"}} {
		b, err := HTML(use)
		if err != nil {
			t.Fatal(err)
		}
		got := inPage.FindStringSubmatch(string(b))
		if got == nil || !strings.HasPrefix(got[1], page.Policy(got[3], got[2], page.File)) ||
			!strings.HasSuffix(got[1], wants.ends) {
			t.Fatalf("%d: %.900s", use, b)
		}
		if !strings.Contains(string(b), `name="back" content="`+wants.back+`"`) {
			t.Errorf("%d: the page does not know who answers", use)
		}
		if strings.Contains(string(b), "{{") || regexp.MustCompile(`(?i)\b(src|href)=["']|url\(['"]?[^#]`).Match(b) {
			t.Errorf("%d: the page names something outside of it, or was not filled in", use)
		}
		if len(b) > 160<<10 {
			t.Errorf("%d: the page has %d bytes, want 160 KiB at most", use, len(b))
		}
		t.Logf("%d: %d bytes", use, len(b))
	}
}

func TestTheFilesOfTheSite(t *testing.T) {
	files, err := Site()
	if err != nil || len(files) != 2 || len(files["worker.js"]) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if html, err := HTML(Static); err != nil || string(files["index.html"]) != string(html) {
		t.Error("index.html is another page", err)
	}
}

// What would read a text as markup or as a program.
var unsafe = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new ` +
	`Function|setTimeout\(['"]|srcdoc|createContextualFragment|XMLHttpRequest|import\(|javascript:`)

// A link may say anything: the page has no way to take it for markup. It asks at three places, two of a server and one
// for files, and its Worker at one.
func TestTextsAreNoMarkup(t *testing.T) {
	s, err := newShell()
	if err != nil {
		t.Fatal(err)
	}
	worker, err := assets.ReadFile("assets/worker.js")
	if err != nil {
		t.Fatal(err)
	}
	if found := unsafe.FindString(s.script + s.html + string(worker)); found != "" || len(s.script) < 10_000 {
		t.Errorf("the page has %q", found)
	}
	if asks := strings.Count(s.script, "fetch("); asks != 3 {
		t.Errorf("the page asks at %d places", asks)
	}
	if asks := strings.Count(string(worker), "fetch("); asks != 1 {
		t.Errorf("the Worker asks at %d places", asks)
	}
}

func node(t *testing.T, args ...string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		realzk.NotRun(t, "the playground's modules (no node)")
	}
	if out, err := exec.CommandContext(t.Context(), node, args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", args, err, out)
	}
}

// Node's own test runner runs the tests of the modules that know no browser, in a folder with those of both packages.
func TestModules(t *testing.T) {
	dir := t.TempDir()
	tests, err := filepath.Glob(filepath.Join("testdata", "modules", "*.mjs"))
	if err != nil || len(tests) < 3 {
		t.Fatalf("%q, %v", tests, err)
	}
	all := map[string][]byte{"package.json": []byte(`{"type": "module"}`)}
	for _, name := range append(tests, filepath.Join("..", "..", "page", "testdata", "modules", "made.mjs")) {
		if all[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := modules()
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range folder.(both) {
		names, err := fs.Glob(half, "*.js")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if all[name], err = fs.ReadFile(half, name); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{"--test"}
	for _, name := range tests {
		args = append(args, filepath.Join(dir, filepath.Base(name)))
	}
	node(t, args...)
}

// TypeScript's compiler checks the types of all modules. It writes nothing.
func TestTheTypesOfTheModules(t *testing.T) {
	tsc := filepath.Join("..", "..", "..", ".cache", "npm", "node_modules", "typescript", "bin", "tsc")
	if _, err := os.Stat(tsc); err != nil {
		realzk.NotRun(t, "the types of the playground's modules (no TypeScript: make deps)")
	}
	node(t, tsc, "-p", ".")
}
