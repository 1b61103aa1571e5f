package machines

import (
	"maps"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// What decides by a state outside its machine has its class, and errors say what the machine does. A state without them
// would be one that nobody outside knows.
func TestEveryStateHasItsClassAndWhatTheMachineDoes(t *testing.T) {
	used := map[engine.State]bool{}
	for _, r := range Recipes() {
		chart := r.Describe()
		for _, s := range chart.States {
			used[s.Name] = true
			class := ClassOf(r.Name(), string(s.Name))
			switch {
			case chart.Choice(s.Name):
				if s.Class != "" || s.Does != "" {
					t.Errorf("%s %s: no machine stays in a choice, so it has no class", r.Name(), s.Name)
				}
			case !slices.Contains(events.Classes(), s.Class) || class != s.Class:
				t.Errorf("%s %s: the class is %q and %q", r.Name(), s.Name, s.Class, class)
			case s.Does == "":
				t.Errorf("%s %s: what does the machine do? An error has to say it", r.Name(), s.Name)
			case (s.Name == chart.Final) != (s.Class == events.ClassClosed):
				t.Errorf("%s %s: the class is %s, and the final state is %s", r.Name(), s.Name, s.Class, chart.Final)
			}
		}
		if first := r.First(); first.State != string(chart.States[0].Name) || first.Class != chart.States[0].Class ||
			first.Does != chart.States[0].Does {
			t.Errorf("%s begins in %+v, not in %+v", r.Name(), first, chart.States[0])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(common)) {
		if !used[name] {
			t.Errorf("no recipe has the state %s", name)
		}
	}
	for _, unknown := range []events.Class{ClassOf("latch", "nowhere"), ClassOf("nothing", "leading")} {
		if unknown != "" {
			t.Errorf("a state that no chart has is %s", unknown)
		}
	}
	if first := LatchRecipe.First(); first != NotStarted {
		t.Errorf("a latch begins in %+v, not in %+v", first, NotStarted)
	}
}
