package mutants

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// toy is a module of one package: its test looks at Sum and Count, and at no other function.
var toy = map[string]string{
	"go.mod": "module toy\n\ngo 1.25\n",
	"toy.go": `package toy

import (
	"fmt"
	"time"
)

// Wait compares with a duration of nothing, of which twice is nothing as well.
func Wait(d time.Duration) bool { return d > 0 }

// Sum is found: its test knows what it returns.
func Sum(a, b int) int { return a + b }

// Count ends only when n is counted down.
func Count(n int) (steps int) {
	for n > 0 {
		n--
		steps++
	}
	return steps
}

// Careless is called by a test that does not look at what it returns.
func Careless(a int) bool { return a > 0 }

// Nobody is called by no test.
func Nobody(a int) bool { return a > 0 }

// Eat fills the memory if n is not counted down.
func Eat(n int) (all [][]byte) {
	for n > 0 {
		n--
		all = append(all, make([]byte, 1<<20))
	}
	return all
}

// Late is found to be right when its test is run again.
func Late(a bool) bool { return a }

// String makes a text.
type Word int

func (w Word) String() string { return fmt.Sprint(int(w) + 1) }
`,
	"toy_test.go": `package toy

import (
	"os"
	"testing"
)

func TestWait(t *testing.T) {
	if Wait(0) || !Wait(1) {
		t.Error("Wait")
	}
}

func TestEat(t *testing.T) {
	if all := Eat(3); len(all) != 3 || len(all[0]) != 1<<20 {
		t.Error("Eat")
	}
}

// TestLate does not end the first time that it fails, as on a busy machine.
func TestLate(t *testing.T) {
	if Late(true) {
		return
	}
	if f, err := os.OpenFile("late", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
		for {
		}
	}
}

func TestSum(t *testing.T) {
	if Sum(3, 2) != 5 {
		t.Error("Sum")
	}
	Careless(len(os.Args))
}

func TestCount(t *testing.T) {
	if Count(3) != 3 {
		t.Error("Count")
	}
}
`,
}

var toyStage = Stage{Dir: ".", Run: "."}

// toyBuild writes the toy into a folder, and returns a build of all its mutants.
func toyBuild(t *testing.T, dir string) *Build {
	t.Helper()
	for name, text := range toy {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := NewBuild(t.Context(), dir, t.TempDir(), []Target{{".", 1000, []Stage{toyStage}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAToy plays every mutant of a small module: those that a test should notice are found, and no other.
func TestAToy(t *testing.T) {
	if selection.Of(t, "toys, which are compiled", 0, 0, 1) == 0 {
		return
	}
	dir := t.TempDir()
	b := toyBuild(t, dir)
	known := map[string]Finder{b.Mutants[0].ID: {".", "TestSum"}}
	verdicts := map[string]Verdict{}
	all := make([]int, len(b.Mutants))
	for i := range all {
		all[i] = i + 1
	}
	judge := NewJudge(b, known)
	judge.patience = 5 * time.Second // a hang of the toy takes nothing but time
	err := judge.All(context.Background(), all, 2, judge.Try, func(v Verdict) { verdicts[v.ID] = v })
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for id, v := range verdicts {
		fn := strings.Split(id, ":")[1]
		got[fn+" "+string(v.State)] = append(got[fn+" "+string(v.State)], v.Mutator)
		if v.State == Found && v.By.Test != "Test"+fn {
			t.Errorf("%s", v)
		}
		if after, err := os.ReadFile(filepath.Join(dir, "toy.go")); err != nil || string(after) != toy["toy.go"] {
			t.Errorf("the source on disk changed: %v", err)
		}
	}
	t.Log(got)
	for _, want := range []string{"Sum found", "Count found", "Count hang", "Eat found", "Wait found",
		"Careless survived", "Late survived", "Nobody not covered"} {
		if len(got[want]) == 0 {
			t.Errorf("no mutant of %s", want)
		}
		delete(got, want)
	}
	if runtime.GOOS != "linux" {
		delete(got, "Eat hang")
	}
	if len(got) > 0 {
		t.Errorf("nobody should be left: %q", slices.Sorted(maps.Keys(got)))
	}
}
