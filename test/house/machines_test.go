package house

import (
	"go/ast"
	"go/token"
	"strconv"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/machines"
)

// machineNames holds how machines name their states and timers, and lay out their rows.
var machineNames = []rule{
	{
		name: "a state's constant is named like its state",
		why:  "what a log or a drawing shows is then found in the code by its name",
		finds: func(f *file) []finding {
			if f.dir != "machines" {
				return nil
			}
			return f.each(misnamed)
		},
		breach: breach{"machines/x.go", `package machines; const cutoff engine.State = "suspended"`},
	},
	{
		name: "a timer has a constant",
		why:  "its sentence says what happens when it fires, and machines that share a pause share its name",
		finds: func(f *file) []finding {
			if f.dir != "machines" || f.test {
				return nil
			}
			return f.each(unnamedTimer)
		},
		breach: breach{"machines/x.go", `package machines; func f(out *engine.Outbox) { out.Timer("back-off", 1) }`},
	},
	{
		name: "a row of a chart that does not fit into a line breaks before To",
		why:  "the first line says when a row fires, the second where it leads and what it does",
		finds: func(f *file) []finding {
			if f.dir != "machines" || f.test {
				return nil
			}
			return f.each(f.brokenElsewhere)
		},
		breach: breach{"machines/x.go", "package machines; var r = row{From: a, On: b, To: c,\n\tDo: d}"},
	},
	{
		name: "outside machines, a state is known by its class",
		why: "a state that gets another name would compile, and change what others do: its chart gives it a class, " +
			"events.Entered and machines.ClassOf bring that, and errors have the chart's words",
		finds: func(f *file) []finding {
			if f.test || f.nested || f.in("machines", "engine") {
				return nil
			}
			return f.each(comparedState)
		},
		breach: breach{"x.go", `package incumbent; func f(state string) bool { return state == "leading" }`},
	},
}

// brokenElsewhere names a row of several lines whose To stands on the first.
func (f *file) brokenElsewhere(n ast.Node) string {
	row, ok := n.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	lines, last := map[string]int{}, 0
	for _, e := range row.Elts {
		if field, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := field.Key.(*ast.Ident); ok {
				last = f.line(field.Pos())
				lines[key.Name] = last
			}
		}
	}
	if lines["From"] > 0 && lines["From"] == lines["To"] && lines["To"] != last {
		return "a row has To on its first line, and goes on in the next"
	}
	return ""
}

// stateNames are the names of the states of all recipes.
var stateNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, r := range machines.Recipes() {
		for _, s := range r.Describe().States {
			names[string(s.Name)] = true
		}
	}
	return names
})

// comparedState names a state's name that something is compared with, or looked up by.
func comparedState(n ast.Node) string {
	var compared []ast.Expr
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			compared = []ast.Expr{n.X, n.Y}
		}
	case *ast.CaseClause:
		compared = n.List
	case *ast.KeyValueExpr: // with a text, that is of a map
		compared = []ast.Expr{n.Key}
	case *ast.IndexExpr:
		compared = []ast.Expr{n.Index}
	}
	for _, one := range compared {
		lit, ok := one.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if name, err := strconv.Unquote(lit.Value); err == nil && stateNames()[name] {
			return "compares something with the state " + name
		}
	}
	return ""
}

func TestEachWayToCompareAStateIsFound(t *testing.T) {
	for text, found := range map[string]bool{
		`func f(s string) bool { return s != "waiting" }`:                           true,
		`func f(s string) bool { return "waiting" == s }`:                           true,
		`func f(s string) { switch s { case "other", "waiting": } }`:                true,
		`var m = map[string]int{"waiting": 1}`:                                      true,
		`var n = m["waiting"]`:                                                      true,
		`func f(s string) bool { return s == "waiting for others" }`:                false,
		`var s = state{name: "waiting"}`:                                            false,
		`func f(s events.Class) bool { return s == events.ClassQueued || s < "x" }`: false,
	} {
		f, err := parse("x.go", "package incumbent; "+text)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(f.each(comparedState)) > 0; got != found {
			t.Errorf("%s: found: %t", text, got)
		}
	}
}

// misnamed names a constant of type engine.State that has another name than its state.
func misnamed(n ast.Node) string {
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return ""
	}
	if kind, ok := spec.Type.(*ast.SelectorExpr); !ok || kind.Sel.Name != "State" {
		return ""
	}
	for i, value := range spec.Values {
		lit, ok := value.(*ast.BasicLit)
		if !ok {
			continue
		}
		if state, err := strconv.Unquote(lit.Value); err == nil && state != spec.Names[i].Name {
			return "the state " + state + " is called " + spec.Names[i].Name
		}
	}
	return ""
}

// unnamedTimer names a timer that is asked for by a string.
func unnamedTimer(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return ""
	}
	if s, ok := call.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Timer" {
		return ""
	}
	if lit, ok := call.Args[0].(*ast.BasicLit); ok {
		return "the timer " + lit.Value + " has no constant"
	}
	return ""
}
