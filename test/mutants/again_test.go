package mutants

import (
	"context"
	"strings"
	"testing"
)

// TestAgain: a mutant is found again by its recorded test, or by another one, if the record is wrong. One that none finds survived.
func TestAgain(t *testing.T) {
	b := toyBuild(t, t.TempDir())
	known, want := map[string]Finder{}, map[string]string{}
	var numbers []int
	for i, m := range b.Mutants {
		switch {
		case strings.HasPrefix(m.ID, "toy.go:Sum:"):
			known[m.ID], want[m.ID] = Finder{".", "TestSum"}, "found by TestSum"
			if len(numbers) == 0 {
				known[m.ID] = Finder{".", "TestCount"} // it was not the finder
			}
		case strings.HasPrefix(m.ID, "toy.go:Careless:"):
			known[m.ID], want[m.ID] = Finder{".", "TestCount"}, "survived"
		default:
			continue
		}
		numbers = append(numbers, i+1)
	}
	got := map[string]string{}
	tell := func(v Verdict) {
		if got[v.ID] != "" {
			t.Errorf("two verdicts: %s", v)
		}
		got[v.ID] = string(v.State)
		if v.State == Found {
			got[v.ID] += " by " + v.By.Test
		}
	}
	if err := NewJudge(b, known).Again(t.Context(), numbers, []Stage{toyStage}, 2, tell); err != nil {
		t.Fatal(err)
	}
	for id, w := range want {
		if got[id] != w {
			t.Errorf("%s: %q, want %q", id, got[id], w)
		}
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	none := func(v Verdict) { t.Errorf("a verdict after the end: %s", v) }
	if err := NewJudge(b, known).Again(over, numbers, []Stage{toyStage}, 2, none); err != nil {
		t.Errorf("the time was over: %v", err)
	}
}
