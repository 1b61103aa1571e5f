package house

import (
	"go/ast"
	"strconv"
)

// machineNames holds how machines name their states and timers.
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
