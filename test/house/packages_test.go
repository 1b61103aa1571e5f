package house

import (
	"cmp"
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
)

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	said := map[string]bool{}
	for _, f := range files(t) {
		said[f.dir] = said[f.dir] || f.tree.Doc != nil
	}
	for dir, ok := range said {
		if !ok {
			t.Errorf("%s has no package comment\n\twhy not: whoever opens a room wants to know what it is for, and "+
				"what it is not", dir)
		}
	}
}

// tracked returns the paths of the files that git tracks.
func tracked(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		realzk.NotRun(t, "what git tracks (no git, or no checkout)")
	}
	return strings.Split(strings.Trim(string(list), "\x00"), "\x00")
}

// The root is what everybody sees first who opens the repository.
func TestTheDoorIsSmall(t *testing.T) {
	const mostFiles, mostEntries = 40, 75
	entries := map[string]bool{}
	for _, name := range tracked(t) {
		first, _, _ := strings.Cut(name, "/")
		entries[first] = true
	}
	product := 0
	for name := range entries {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			product++
		}
	}
	if product > mostFiles || len(entries) > mostEntries {
		t.Errorf("the root has %d product files, of %d, and %d entries, of %d\n\twhy not: it is what everybody sees "+
			"first: merge small files, or move what is not exported behind the door, to internal",
			product, mostFiles, len(entries), mostEntries)
	}
}

// A program that was built in the checkout is easily committed with everything else.
func TestNoTrackedFileIsLarge(t *testing.T) {
	const most = 512 << 10 // bytes; the largest picture has a fifth of that
	for _, name := range tracked(t) {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Size() > most {
			t.Errorf("%s has %d bytes, of %d: is it a program that was built?", name, info.Size(), most)
		}
	}
}

// suites are what recipes are called in test/servers/suite, if not by their names.
var suites = map[string]string{"session": "connection", "consumer": "queue", "producer": "queue", "jobdealer": "job",
	"jobworker": "job", "leaderwatch": "latch", "leftover": "hostile"}

// One name, in every room: whoever has found one of these files has found all. Several small recipes may be in one file
// of the root.
func TestARecipeHasItsPlaceInEveryRoom(t *testing.T) {
	for _, r := range machines.Recipes() {
		name := r.Name()
		for _, place := range []string{"machines/" + name + ".go", "machines/testdata/" + name,
			"docs/statecharts/" + name + ".md", "docs/statecharts/" + name + ".svg"} {
			if _, err := os.Stat(filepath.Join(root, place)); err != nil {
				t.Errorf("the recipe %s has no %s", name, place)
			}
		}
		opens := regexp.MustCompile(`(?i)\bmachines\.` + name + `Recipe\b|\bout\.Open\(.*\b` + name + `Recipe\b`)
		tests := regexp.MustCompile(`(?i)\.(New)?` + cmp.Or(suites[name], name) + `\w*\(`)
		var opened, tested bool
		for _, f := range files(t) {
			opened = opened || f.in(".", "machines") && !f.test && opens.MatchString(f.text)
			tested = tested || f.in("test/servers/suite") &&
				(path.Base(f.path) == cmp.Or(suites[name], name)+"_test.go" || tests.MatchString(f.text))
		}
		if !opened || !tested {
			t.Errorf("the recipe %s is opened by a file of the root, or by a machine: %t; it is in "+
				"test/servers/suite: %t", name, opened, tested)
		}
	}
}

// leakless reports whether the files of a package have a TestMain and goleak in it.
func leakless(all []*file) bool {
	for _, f := range all {
		if _, imported := f.local["goleak"]; !imported {
			continue
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "TestMain" {
				return true
			}
		}
	}
	return false
}

// Every package with tests looks for goroutines that they left behind: those that
// start none today may tomorrow.
func TestEveryTestMainLooksForLeaks(t *testing.T) {
	tests := map[string][]*file{}
	for _, f := range files(t) {
		if strings.HasSuffix(f.path, "_test.go") && !f.nested {
			tests[f.dir] = append(tests[f.dir], f)
		}
	}
	for dir, all := range tests {
		if !leakless(all) {
			t.Errorf("%s has tests and no TestMain with goleak\n\twhy not: what a test leaves running is a leak of "+
				"the product's, or of the test's", dir)
		}
	}
	breach, err := parse("x_test.go", `package x; import "testing"; func TestMain(m *testing.M) { m.Run() }`)
	if err != nil || leakless([]*file{breach}) {
		t.Errorf("nothing wrong with a TestMain without goleak? %v", err)
	}
}

// recipe returns what a target of the Makefile runs.
func recipe(t *testing.T, target string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n"+target+": ")
	if !ok {
		t.Fatalf("the Makefile has no target %s", target)
	}
	for _, line := range strings.Split(rest, "\n")[1:] {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "\t"))
	}
	return lines
}

// A fresh machine may have Go and nothing else, and each level is what its target says.
func TestEveryLevelHasItsTarget(t *testing.T) {
	const tally, all = " $(GO) run ./test/kit/tally ", "-count=1 -p 6 -vet=off -ldflags=-w $(ARGS) ./..."
	for _, c := range []struct{ target, runs, why string }{
		{"quick", "@CGO_ENABLED=0 INCUMBENT_LEVEL=quick" + tally + all,
			"it is for a machine with nothing but Go, and runs all packages"},
		{"test", "@CGO_ENABLED=0 INCUMBENT_LEVEL=test" + tally + all,
			"the README promises that it needs nothing but Go, no C compiler and no Java"},
		{"prove", "@CGO_ENABLED=1 INCUMBENT_LEVEL=prove" + tally + "-race $(PURE) " + all,
			"it runs everything, with the race detector, too"},
	} {
		if got := recipe(t, c.target); !slices.Equal(got, []string{c.runs}) {
			t.Errorf("make %s runs %q, want %q\n\twhy not: %s", c.target, got, c.runs, c.why)
		}
	}
}

// The words of golden traces are the switches of two functions.
func TestThePageOnTracesHasTheirWords(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "contributors.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, f := range files(t) {
		if f.path != "machines/trace_test.go" {
			continue
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && (fn.Name.Name == "say" || fn.Name.Name == "event") {
				words = append(words, cases(fn)...)
			}
		}
	}
	if len(words) < 10 {
		t.Fatalf("machines/trace_test.go has only the words %v", words)
	}
	for _, w := range words {
		if !regexp.MustCompile("`" + w + "[ =`]").Match(text) {
			t.Errorf("docs/contributors.md does not say what %q means in a golden trace", w)
		}
	}
}

// cases returns the strings that a function's switches know.
func cases(fn *ast.FuncDecl) (words []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, x := range c.List {
				if lit, ok := x.(*ast.BasicLit); ok {
					words = append(words, strings.Trim(lit.Value, `"`))
				}
			}
		}
		return true
	})
	return words
}
