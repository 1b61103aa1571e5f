package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// worlds are the rules of package world, a function of its script and its observer, of package play, which plays it,
// and of package quorum, which is a part of it.
var worlds = []rule{
	{
		name: "world sees nothing of the outside",
		why: "the same script must give the same records, byte for byte, natively and in a browser: chance " +
			"comes from the seed",
		finds: func(f *file) []finding {
			if f.test || !f.in("internal/world", "internal/play", "internal/quorum") {
				return nil
			}
			return importsOf(f, slices.DeleteFunc(slices.Clone(outside), func(p string) bool {
				return p == "math/rand/v2"
			}))
		},
		breach: breach{"internal/world/x.go", `package world; import _ "sync"`},
	},
	{
		name: "world throws its own dice",
		why: "math/rand/v2 has dice of the whole process, which no seed decides: dice are made with rand.New and " +
			"rand.NewPCG, in dice.go",
		finds: func(f *file) []finding {
			if f.test || !f.in("internal/world", "internal/play", "internal/quorum") {
				return nil
			}
			return f.each(func(n ast.Node) string {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return ""
				}
				name := f.called(call.Fun)
				if made := name == "math/rand/v2.New" ||
					name == "math/rand/v2.NewPCG"; strings.HasPrefix(name, "math/rand/v2.") &&
					!(made && f.path == "internal/world/dice.go") {
					return "throws dice with " + name
				}
				return ""
			})
		},
		breach: breach{"internal/world/x.go",
			`package world; import "math/rand/v2"; func f() int { return rand.IntN(3) }`},
	},
	{
		name: "world keeps nothing outside a World",
		why: "two worlds run at the same time, and the second of two runs must not know of the first: a package's " +
			"variables are errors and tables that nobody changes",
		finds: func(f *file) []finding {
			if f.test || !f.in("internal/world", "internal/play", "internal/quorum") {
				return nil
			}
			return globals(f)
		},
		breach: breach{"internal/world/x.go", `package world; var table = map[string]int{}; func f() { table["x"]++ }`},
	},
	{
		name: "a variable of world is an error or a table",
		why:  "whatever else a package's variable is for, it is for being changed",
		finds: func(f *file) []finding {
			if f.test || !f.in("internal/world", "internal/play", "internal/quorum") {
				return nil
			}
			return unset(f)
		},
		breach: breach{"internal/world/x.go", `package world; var count int`},
	},
}

// packageVars are the variables of a file, with what they are made of.
func packageVars(f *file, each func(name *ast.Ident, value ast.Expr)) {
	for _, d := range f.tree.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, s := range gen.Specs {
			for i, name := range s.(*ast.ValueSpec).Names {
				var value ast.Expr
				if values := s.(*ast.ValueSpec).Values; i < len(values) {
					value = values[i]
				}
				each(name, value)
			}
		}
	}
}

// unset finds variables that are neither errors nor tables; "var _ I = T{}" asserts.
func unset(f *file) (found []finding) {
	packageVars(f, func(name *ast.Ident, value ast.Expr) {
		_, table := value.(*ast.CompositeLit)
		call, made := value.(*ast.CallExpr)
		if !table && !(made && f.called(call.Fun) == "errors.New") {
			found = append(found, finding{name.Pos(), name.Name + " is a variable of the package"})
		}
	})
	return found
}

// globals finds changes of a package's variables, in the file that declares them.
func globals(f *file) []finding {
	var names []string
	packageVars(f, func(name *ast.Ident, _ ast.Expr) { names = append(names, name.Name) })
	changes := func(x ast.Expr) string {
		if at, ok := x.(*ast.IndexExpr); ok {
			x = at.X
		}
		if id, ok := x.(*ast.Ident); ok && slices.Contains(names, id.Name) {
			return "changes " + id.Name
		}
		return ""
	}
	return f.each(func(n ast.Node) string {
		switch n := n.(type) {
		case *ast.IncDecStmt:
			return changes(n.X)
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if why := changes(x); why != "" && n.Tok != token.DEFINE {
					return why
				}
			}
		}
		return ""
	})
}
