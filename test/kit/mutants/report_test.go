package mutants

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTheTableOfFindersIsReadAsItWasWritten: a verdict replaces what the table held of its mutant, and one that
// survived leaves it.
func TestTheTableOfFindersIsReadAsItWasWritten(t *testing.T) {
	known := map[string]Finder{"a": {".", "TestA"}, "b": {"zkio", "TestB"}, "c": {"zkio", "TestC"}}
	hangs := map[string]bool{"b": true}
	for id, v := range map[string]Verdict{
		"b": {State: Found, By: Finder{"engine", "TestE"}}, "c": {State: Survived},
		"d": {State: Hang, By: Finder{"zkio", "start"}},
	} {
		v.Mutant = &Mutant{ID: id}
		note(v, known, hangs)
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "finders.tsv")
	for range 2 { // the second time in place of the first
		if err := writeFinders(name, known, hangs); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := readTable(name, 4)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for id, row := range rows {
		got[id] = row[0] + " " + row[1] + " " + row[2]
	}
	want := map[string]string{"a": ". TestA found", "b": "engine TestE found", "d": "zkio start hang"}
	if !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("files in the folder: %v %v", all, err)
	}
}

// TestTheStageOfAFinder: a test that a stage skips is not of it, so of two stages of a package each has its own.
func TestTheStageOfAFinder(t *testing.T) {
	for by, want := range map[Finder]int{{"machines", "TestTraces"}: 1, {"machines", "TestOther"}: 0,
		{"zkio", "TestTraces"}: -1, {"machines", atStart}: -1} {
		got := slices.IndexFunc([]Stage{ofMachines, ofTraces}, func(s Stage) bool { return s.has(by) })
		if got != want {
			t.Errorf("%v is of the stage %d, want %d", by, got, want)
		}
	}
}
