package house

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// fakeGo is a go whose tests end as FAKE says. What it builds only, it builds; what it lists are two fuzz targets.
const fakeGo = `#!/bin/sh
case "$*" in
list*) echo "$FAKE_DIR example.org/some"; exit ;;
"test -count=1 -run ^$ "*) exit ;;
esac
: >"$FAKE_DIR/ran"
[ "$FAKE" = passes ] || [ "$FAKE" = hangs ] || printf '\026    --- FAIL: TestSome/deep (0.00s)\n        two leaders\n'
case "$*" in *-fuzz*) printf '    Failing input written to testdata\n    To re-run:\n'
	printf '    go test -run=FuzzIt/0123456789abcdef\n' ;; esac
: >"$FAKE_DIR/said"
case "$FAKE" in
passes) exit 0 ;;
fails) exit 1 ;;
*hangs) sleep 1000 ;;
*) exit "$FAKE" ;;
esac
`

// explored runs scripts/explore with that go, and returns what it says, and the folder of the go.
func explored(t *testing.T, fake, runs string, args ...string) (said, dir string, err error) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		realzk.NotRun(t, "scripts/explore (no bash)")
	}
	dir = t.TempDir()
	for name, text := range map[string]string{"go": fakeGo,
		"x_test.go": "package some\n\nfunc FuzzIt(f *testing.F) {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", append([]string{"scripts/explore"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "go"), "TMPDIR="+dir, "FAKE="+fake, "FAKE_DIR="+dir,
		"RUNS="+runs)
	out, err := cmd.CombinedOutput()
	return string(out), dir, err
}

// Each part prints what failed and how to play it again, and explore fails. A status that a run ended with by itself is
// no end of the share.
func TestExplorePrintsWhatFails(t *testing.T) {
	for part, again := range map[string]string{
		"differential": "INCUMBENT_SEED=", "walks": "INCUMBENT_LEVEL=quick INCUMBENT_REQUIRE=all env INCUMBENT_SEED=",
		"worlds": "-args -first ", "fuzz": "example.org/some -run FuzzIt/0123456789abcdef",
		"chaos": "-args -minutes 1 -seed ",
	} {
		for _, status := range []string{"fails", "124", "137"} {
			said, _, err := explored(t, status, "1", "600", part)
			_, last, _ := strings.Cut(said, "\nplay it again: ")
			if err == nil || !strings.Contains(said, "    --- FAIL: TestSome/deep") ||
				!strings.Contains(said, "1 runs, 1 finds") ||
				!strings.Contains(last, again) {
				t.Errorf("%s, %s: %v\n%s", part, status, err, said)
			}
		}
	}
	said, _, err := explored(t, "passes", "1", "600", "walks", "worlds", "chaos", "differential")
	if err != nil || strings.Count(said, ": 1 runs, 0 finds") != 8 || strings.Contains(said, "again") {
		t.Errorf("nothing failed: %v\n%s", err, said)
	}
}

// A share that ends before a test did is no success, and what had failed by then is a find.
func TestExploreDoesNotPassUntested(t *testing.T) {
	const nothing = "walks: ./machines ^TestRandom(Walk|Jobs|Permits)$: nothing was tested: "
	said, _, err := explored(t, "hangs", "0", "1s", "walks")
	if err == nil || !strings.Contains(said, nothing) || strings.Contains(said, "again") {
		t.Errorf("all of it hung: %v\n%s", err, said)
	}
	for share := time.Second; ; share *= 2 {
		said, dir, err := explored(t, "fails, and hangs", "1", fmt.Sprintf("%.0fs", share.Seconds()), "differential")
		if _, ran := os.Stat(filepath.Join(dir, "said")); ran != nil && share < repeat.Enough {
			continue // it was ended before it could say that it failed
		}
		if err == nil || !strings.Contains(said, "play it again: env ") ||
			strings.Contains(said, "nothing was tested") {
			t.Errorf("it failed before it hung: %v\n%s", err, said)
		}
		return
	}
}
