package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ciSteps are the steps of tests in .ci/run: what each runs.
func ciSteps(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, line := range strings.Split(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, `tests "`); ok {
			_, rest, _ = strings.Cut(rest, `" `)    // its name
			_, command, _ := strings.Cut(rest, " ") // its minutes
			steps = append(steps, command)
		}
	}
	return steps
}

// shortened are the packages that play less under the race detector and use a real server, by their files.
func shortened(all []*file) []string {
	less, real := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		less[f.dir] = less[f.dir] || strings.HasPrefix(f.text, "//go:build !race\n")
		for _, path := range f.local {
			real[f.dir] = real[f.dir] || path == module+"/test/realzk" || path == module+"/test/ensemble"
		}
	}
	var dirs []string
	for dir := range less {
		if less[dir] && real[dir] {
			dirs = append(dirs, "./"+dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// One run of all tests has nothing but Go, the other has the race detector; a test that needs a real server and plays
// less with the race detector is in a third, or nobody plays it in full.
func TestEveryTestIsRunInFullSomewhere(t *testing.T) {
	want := []string{"bash scripts/bare make test", "make race", "go run ./test/tally -count=1 " + strings.Join(shortened(files(t)), " ")}
	if got := ciSteps(t); !slices.Equal(got, want) {
		t.Errorf(".ci/run has the tests\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	var breach []*file
	for path, text := range map[string]string{
		"test/new/race_off_test.go": "//go:build !race\n\npackage fresh\n",
		"test/new/new_test.go":      `package fresh; import "github.com/incumbent-go/incumbent/test/realzk"`,
		"test/old/race_off_test.go": "//go:build !race\n\npackage old\n",
	} {
		f, err := parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		breach = append(breach, f)
	}
	if got := shortened(breach); !slices.Equal(got, []string{"./test/new"}) {
		t.Errorf("shortened: %q", got)
	}
}

// What a fresh machine lacks is not to be found through scripts/bare, wherever this machine has it.
func TestTheBareMachineHasNothingButGo(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("not run: scripts/bare (no bash)")
	}
	cmd := exec.Command("bash", "scripts/bare", "sh", "-c", `
		for name in java javac python python3 cc gcc g++ clang c99; do command -v $name; done
		echo "require=$INCUMBENT_REQUIRE server=$INCUMBENT_ZK home=$ZOOKEEPER_HOME"
		for name in go git make sh; do command -v $name >/dev/null || echo "no $name"; done`)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "INCUMBENT_REQUIRE=all", "INCUMBENT_ZK=h:1", "ZOOKEEPER_HOME=/opt/zk")
	out, err := cmd.CombinedOutput()
	if want := "require= server= home=\n"; string(out) != want {
		t.Errorf("%v: got\n%swant\n%s", err, out, want)
	}
}
