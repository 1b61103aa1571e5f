package machines

import (
	"reflect"
	"slices"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/events"
)

// Each recipe has its traits, and its chart and model show the same.
func TestEveryRecipeHasItsTraits(t *testing.T) {
	for _, r := range Recipes() {
		name, chart, of := r.Name(), r.Describe(), TraitsOf(r.Name())
		has := func(kind events.Kind) bool { return slices.Contains(chart.Kinds, kind) }
		// The states of a member that owns shards are not those of its terms.
		leads := of.Grants == GrantsShards ||
			slices.ContainsFunc(chart.States, func(s engine.StateDoc) bool { return s.Class == events.ClassLeading })
		awaits := leads && has(events.CommandAwait)
		switch {
		case of.Grants == "":
			t.Errorf("%s is not in traits (doc.go): what does it grant? GrantsNothing, if nobody leads or holds there",
				name)
		case of.Grants.HasTerms() != leads:
			t.Errorf("%s grants %s, and has a state of class %s: %t", name, of.Grants, events.ClassLeading, leads)
		case (of.Grants == GrantsEntry) != has(events.CommandEnter):
			t.Errorf("%s grants %s, and takes %s: %t", name, of.Grants, events.CommandEnter, has(events.CommandEnter))
		case of.Callback != (leads && !awaits):
			t.Errorf("%s: Callback is %t, and a command asks for a term: %t", name, of.Callback, awaits)
		case of.Acquisition != (awaits && !has(events.CommandResign)):
			t.Errorf("%s: Acquisition is %t, and it takes %s: %t", name, of.Acquisition, events.CommandResign,
				has(events.CommandResign))
		case of.FixedName != embeds(r, "fixedNode"):
			t.Errorf("%s: FixedName is %t, and its model embeds fixedNode: %t", name, of.FixedName, !of.FixedName)
		case (of.Label != "") != hasOwnLabel(r):
			t.Errorf("%s: Label is %q, and it has a line whose names the user does not choose: %t", name, of.Label,
				hasOwnLabel(r))
		case (of.SharedLabel != "") != (of.Grants == GrantsReadWriteLock):
			t.Errorf("%s grants %s, and SharedLabel is %q", name, of.Grants, of.SharedLabel)
		}
	}
	if len(traits) > len(Recipes()) {
		t.Errorf("traits has %d recipes, and there are %d: which is none any more?", len(traits), len(Recipes()))
	}
}

// hasOwnLabel reports whether a recipe's nodes queue in a line whose names the user does not choose, as in an election.
// A semaphore has none itself: the latch that it opens does.
func hasOwnLabel(r engine.Recipe) bool {
	return embeds(r, "place") && r.Name() != ElectionRecipe.Name() || r.Name() == SemaphoreRecipe.Name()
}

// embeds reports whether the model of a recipe embeds a part.
func embeds(r engine.Recipe, part string) bool {
	open, _ := reflect.TypeOf(r).Elem().FieldByName("Open")
	_, is := open.Type.Out(0).Elem().FieldByName(part)
	return is
}
