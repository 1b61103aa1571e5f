package house

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// needed are the files outside testdata without which a new recipe fails a test or does not compile, those of the
// smallest one.
var needed = []string{
	"machines/gate.go", "machines/doc.go",
	"machines/judge_barrier_test.go",                   // TestEveryRecipeHasRules
	"barrier.go", "test/servers/suite/barrier_test.go", // TestARecipeHasItsPlaceInEveryRoom
	"example_locks_test.go",                               // TestWhatAClientMakesHasAnExample
	"incumbent.go",                                        // TestTheIndexNamesEveryType
	"test/door/waiting_calls_test.go",                     // TestEveryWaitingCallIsListed
	"test/worlds/sim/gate.go", "test/worlds/sim/roles.go", // TestRoles
	"docs/recipes.md",        // TestEveryRecipeIsListed
	"docs/api/incumbent.txt", // TestTheAPIIsTheListedOne
	// TestDocsAreCurrent:
	"docs/statecharts/gate.md", "docs/statecharts/gate.svg", "docs/statecharts/README.md",
}

// optional are tests of gates that nothing would miss.
var optional = []string{
	"test/door/call_context_test.go", "test/door/containers_reaped_test.go", "test/door/foreign_nodes_test.go",
	"test/door/unknown_recipes_test.go", "test/door/waiting_line_test.go", "test/figures/group_test.go",
	"test/servers/otherservers/recipes_test.go", "test/servers/suite/made_test.go",
	"test/servers/upgrade/agent/groups.go",
}

// A recipe is added in few places, and each that is missing is named.
func TestARecipeIsAddedInFewFiles(t *testing.T) {
	const most = 15
	if len(needed) > most {
		t.Errorf("a recipe needs %d files, of %d\n\twhy not: nobody has to know of a table that the recipes' own "+
			"files fill, or that is made of their charts", len(needed), most)
	}
	names := regexp.MustCompile(`GateRecipe|gateRole|\bGate\(|incumbent\.Gate\b|\[Gate\]|"gate"`)
	named := map[string]bool{}
	for _, f := range files(t) {
		if f.dir != "test/house" && names.MatchString(f.text) {
			named[f.path] = true
			if !slices.Contains(needed, f.path) && !slices.Contains(optional, f.path) {
				t.Errorf("%s names the gate, and is not listed here: it is needed if every recipe has to be there",
					f.path)
			}
		}
	}
	for _, name := range slices.Concat(needed, optional) {
		if path.Ext(name) == ".go" && !named[name] {
			t.Errorf("%s does not name the gate", name)
		}
	}
}

// exemplified are what needs no example of its own.
var exemplified = map[string]string{"Children": "as Get", "Sync": "as Get", "Shards": "bench/shards.md"}

func TestWhatAClientMakesHasAnExample(t *testing.T) {
	made := map[string]bool{}
	var examples strings.Builder
	for _, f := range files(t) {
		if f.dir != "." {
			continue
		}
		if strings.HasPrefix(f.path, "example_") {
			examples.WriteString(f.text)
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || f.test || fn.Recv == nil || !fn.Name.IsExported() || fn.Type.Results == nil {
				continue
			}
			client, isPointer := fn.Recv.List[0].Type.(*ast.StarExpr)
			if _, makes := fn.Type.Results.List[0].Type.(*ast.StarExpr); makes && isPointer {
				if of, ok := client.X.(*ast.Ident); ok && of.Name == "Client" {
					made[fn.Name.Name] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if strings.Contains(examples.String(), "."+name+"(") == (exemplified[name] != "") {
			t.Errorf("Client.%s has an example, or a reason for none: not both, and not neither", name)
		}
	}
	if len(made) < 20 {
		t.Errorf("a client makes only %d things", len(made))
	}
}
