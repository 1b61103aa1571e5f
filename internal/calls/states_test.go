package calls

import (
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// Every state of every machine that a handle waits for has its words.
func TestEveryStateHasWords(t *testing.T) {
	seen := map[string]bool{}
	for _, recipe := range machines.Recipes() {
		if recipe.Name() == machines.SessionRecipe.Name() {
			continue
		}
		chart := recipe.Describe()
		for _, state := range chart.States {
			own, shared := recipe.Name()+" "+string(state.Name), string(state.Name)
			seen[own], seen[shared] = true, true
			if states[own] == "" && states[shared] == "" && !chart.Choice(state.Name) {
				t.Errorf("no words for %s", own)
			}
		}
	}
	for key := range states {
		if !seen[key] {
			t.Errorf("there is no state %q", key)
		}
	}
}
