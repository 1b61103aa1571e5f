package mutants

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

var (
	full = flag.Bool("full", false, "try the whole sample, and write testdata/finders.tsv after each mutant")
	only = flag.String("only", "", "try those whose ids this expression matches")
	rest = flag.Bool("rest", false, "with -full: try those that no table names; so a run that was interrupted goes on")
)

const (
	root          = "../../.."
	findersTable  = "testdata/finders.tsv"
	survivorTable = "testdata/survivors.tsv"
)

// finders returns which test found a mutant the last time, and which of them did not end.
func finders(t *testing.T) (known map[string]Finder, hangs map[string]bool) {
	t.Helper()
	rows, err := readTable(findersTable, 4)
	if err != nil {
		t.Fatal(err)
	}
	known, hangs = map[string]Finder{}, map[string]bool{}
	for id, row := range rows {
		known[id], hangs[id] = Finder{row[0], row[1]}, row[2] == string(Hang)
	}
	return known, hangs
}

// judged returns the mutants that no test can find, and why.
func judged(t *testing.T) map[string]string {
	t.Helper()
	rows, err := readTable(survivorTable, 2)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for id, row := range rows {
		reasons[id] = row[0]
	}
	return reasons
}

// TestMutants tries the sample, for make mutants. Every mutant that survives has to be judged.
func TestMutants(t *testing.T) {
	if !*full {
		return
	}
	ctx := t.Context()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		t.Fatalf("-only: %v", err)
	}
	t.Setenv("CGO_ENABLED", "0")
	b, err := NewBuild(ctx, root, t.TempDir(), targets, seed)
	if err != nil {
		t.Fatal(err)
	}
	known, hangs := finders(t)
	reasons := judged(t)
	numbers := choose(b.Mutants, func(m *Mutant) bool {
		return wanted.MatchString(m.ID) && (!*rest || known[m.ID] == Finder{} && reasons[m.ID] == "")
	})
	if *only != "" && len(numbers) == 0 {
		t.Fatalf("-only %q matches no id of the sample that is left: an id begins with its file, as in engine/chart.go",
			*only)
	}
	verdicts, err := try(ctx, b, numbers, known, hangs)
	if err != nil {
		t.Fatal(err)
	}
	scores, open := Scores(verdicts, reasons)
	t.Logf("%d of %d mutants", len(verdicts), len(numbers))
	if !*rest { // else it is no score: what was found before was left out
		t.Log("\n" + Table(scores))
	}
	for _, v := range open {
		t.Errorf("%s: %s\n\tfind it by a test, or say in %s why no test can", v.State, v.Diff(), survivorTable)
	}
}

// TestTheTablesAreAboutTheSample: every mutant that the tables name is still drawn. One whose code was edited is
// another mutant, and has to be judged again.
func TestTheTablesAreAboutTheSample(t *testing.T) {
	if selection.Of(t, "draws of the sample", 0, 1, 1) == 0 {
		return
	}
	all, _, err := sample(t.Context(), root, targets, seed)
	if err != nil {
		t.Fatal(err)
	}
	drawn := map[string]bool{}
	for _, m := range all {
		if drawn[m.ID] {
			t.Errorf("two mutants have the id %s", m.ID)
		}
		drawn[m.ID] = true
	}
	if len(all) != 1708 {
		t.Errorf("%d mutants", len(all))
	}
	for id := range judged(t) {
		if !drawn[id] {
			t.Errorf("%s: %s is not in the sample: leave the line out", survivorTable, id)
		}
	}
}

// choose returns the numbers of the mutants that fit.
func choose(all []*Mutant, fits func(*Mutant) bool) (numbers []int) {
	for i, m := range all {
		if fits(m) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// try tries mutants. Each verdict is printed and noted at once in the table of finders.
func try(ctx context.Context, b *Build, numbers []int, known map[string]Finder,
	hangs map[string]bool) (verdicts []Verdict, err error) {
	j := NewJudge(b, maps.Clone(known))
	drawn := map[string]bool{}
	for _, m := range b.Mutants {
		drawn[m.ID] = true
	}
	maps.DeleteFunc(known, func(id string, _ Finder) bool { return !drawn[id] })
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err = j.All(ctx, numbers, runtime.NumCPU(), j.Try, func(v Verdict) {
		fmt.Println(v)
		verdicts = append(verdicts, v)
		note(v, known, hangs)
		if err := writeFinders(findersTable, known, hangs); err != nil {
			stop(err)
		}
	})
	return verdicts, err
}

// note notes which test found a mutant, or that none does.
func note(v Verdict, known map[string]Finder, hangs map[string]bool) {
	delete(known, v.ID)
	if v.State == Found || v.State == Hang {
		known[v.ID], hangs[v.ID] = v.By, v.State == Hang
	}
}
