package why

import (
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

func TestWhichRecipesHaveNoTerms(t *testing.T) {
	var leads []string
	for _, r := range machines.Recipes() {
		if _, without := outside(r.Name()); !without {
			leads = append(leads, r.Name())
		}
	}
	slices.Sort(leads)
	if want := []string{"election", "jobelection", "latch", "mutex", "nodeelection", "readwrite", "selector",
		"semaphore", "shards"}; !slices.Equal(leads, want) {
		t.Errorf("%v have terms, want %v", leads, want)
	}
	if what, _ := outside("barrier"); what != "a barrier" {
		t.Errorf("a barrier is %q", what)
	}
	if _, without := outside("future"); without {
		t.Error("a recipe of another version is said to have no terms")
	}
}
