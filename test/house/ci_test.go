package house

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// testStep is a line of .ci/run that runs tests by test/kit/tally: a name, minutes, and what it runs.
var testStep = regexp.MustCompile(`^step "[^"]*" \d+ (.*make (?:test|prove))$`)

// ciSteps returns the steps of tests in .ci/run: what each runs.
func ciSteps(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, line := range strings.Split(string(text), "\n") {
		if step := testStep.FindStringSubmatch(line); step != nil {
			steps = append(steps, step[1])
		}
	}
	return steps
}

// One run has nothing but Go; the other runs everything, in full, with everything required. What it does is in
// test/kit/tally, which fails a test that runs a part there, and in the Makefile.
func TestEveryTestIsRunInFullSomewhere(t *testing.T) {
	want := []string{"bash scripts/bare make test", "make prove"}
	if got := ciSteps(t); !slices.Equal(got, want) {
		t.Errorf(".ci/run has the tests\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

const selects = "test/kit/selection"

var sequential = []rule{
	{
		name: "sequential packages start no goroutine",
		why:  "make prove runs the packages of selection.Sequential without the race detector only",
		finds: func(f *file) []finding {
			if !slices.Contains(selection.Sequential(), f.dir) {
				return nil
			}
			return f.each(startsAGoroutine)
		},
		breach: breach{"machines/x_test.go", "package machines\n\nfunc f() { go f() }\n"},
	},
}

// startsAGoroutine says how a node does, if it does.
func startsAGoroutine(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.SelectorExpr:
		if name := n.Sel.Name; name == "Go" || name == "Parallel" || name == "RunParallel" || name == "AfterFunc" {
			return "may start a goroutine: " + name
		}
	}
	return ""
}

var amounts = []rule{
	{
		name: "only test/kit/selection decides how much is run",
		why: "a test that plays less for a reason of its own is played in full by nobody: make prove runs again what " +
			"test/kit/selection made smaller",
		finds: func(f *file) []finding {
			if f.dir == selects {
				return nil
			}
			var found []finding
			for _, group := range f.tree.Comments {
				for _, c := range group.List {
					if ofRace.MatchString(c.Text) {
						found = append(found, finding{c.Pos(), "is built by the race detector: " + c.Text})
					}
				}
			}
			return append(found, f.each(func(n ast.Node) string {
				switch name := f.called(n); name {
				case "testing.Short":
					return "asks for testing.Short"
				case module + "/" + selects + ".Parse", module + "/" + selects + ".Variable":
					if f.dir != "test/kit/tally" {
						return "asks for the level itself"
					}
				}
				return ""
			})...)
		},
		breach: breach{"test/new/race_off_test.go", "//go:build linux && !race\n\npackage fresh\n"},
	},
}

// ofRace is a build constraint that the race detector decides.
var ofRace = regexp.MustCompile(`^//go:build .*\brace\b`)

func TestNobodyShortensATestAlone(t *testing.T) {
	for path, text := range map[string]string{
		"x_test.go":            `package x; import "testing"; func f() bool { return testing.Short() }`,
		"machines/few_test.go": "//go:build race\n\npackage machines\n",
		"test/new/some_test.go": `package some; import "` + module + `/test/kit/selection"; var level, _ = ` +
			`selection.Parse("prove")`,
	} {
		f, err := parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		if found := amounts[0].finds(f); len(found) != 1 {
			t.Errorf("%s: found %v", path, found)
		}
	}
}

// What a fresh machine lacks is not to be found through scripts/bare, wherever this machine has it.
func TestTheBareMachineHasNothingButGo(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("not run: scripts/bare (no bash)")
	}
	cmd := exec.Command("bash", "scripts/bare", "sh", "-c", `
		for name in java javac python python3 cc gcc g++ clang c99; do command -v $name; done
		echo "level=$INCUMBENT_LEVEL require=$INCUMBENT_REQUIRE server=$INCUMBENT_ZK home=$ZOOKEEPER_HOME"
		for name in go git make sh; do command -v $name >/dev/null || echo "no $name"; done`)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "INCUMBENT_LEVEL=quick", "INCUMBENT_REQUIRE=all", "INCUMBENT_ZK=h:1",
		"ZOOKEEPER_HOME=/opt/zk")
	out, err := cmd.CombinedOutput()
	if want := "level= require= server= home=\n"; string(out) != want {
		t.Errorf("%v: got\n%swant\n%s", err, out, want)
	}
}
