package house

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// optionRules hold how the options of machines are named.
var optionRules = []rule{
	{
		name: "an option has a constant",
		why: "who gives an option to a machine, and the machine that reads it, mean the same name: " +
			"a misspelt literal refuses to open, and nobody finds it before",
		finds: func(f *file) []finding {
			_, gives := f.local["machines"]
			if f.test || !gives && !f.in("machines") || under(f.dir, "internal/doctor") { // which reads quotas
				return nil
			}
			return f.each(literalOption)
		},
		breach: breach{"latch.go", `package incumbent; import "` + module + `/machines"
var _ = machines.LatchRecipe; var options = map[string]string{"rideOut": "true"}`},
	},
}

// optionNames are the options of machines, by the constants in machines/optionnames.go.
var optionNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	all, _ := house()
	for _, f := range all {
		if f.path != "machines/optionnames.go" {
			continue
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				if name, ok := text(spec.Values[0]); ok && strings.EqualFold(spec.Names[0].Name, "Option"+name) {
					names[name] = true
				}
			}
			return true
		})
	}
	return names
})

// text returns the value of a string literal, and whether a node is one.
func text(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// optionReaders are the methods that read an option.
var optionReaders = []string{"given", "duration", "integer", "number", "text", "flag", "policy"}

// literalOption names a literal that is an option: what is read, the key of a map, or an index of options.
func literalOption(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IndexExpr:
		of := ""
		switch x := n.X.(type) {
		case *ast.Ident:
			of = x.Name
		case *ast.SelectorExpr:
			of = x.Sel.Name
		}
		if name, ok := text(n.Index); ok && strings.EqualFold(of, "options") {
			return "the option " + name
		}
	case *ast.CallExpr:
		reads, ok := n.Fun.(*ast.SelectorExpr)
		if !ok || len(n.Args) == 0 || !slices.Contains(optionReaders, reads.Sel.Name) {
			return ""
		}
		if name, ok := text(n.Args[0]); ok && optionNames()[name] {
			return "the option " + name
		}
	case *ast.CompositeLit:
		m, ok := n.Type.(*ast.MapType)
		if !ok {
			return ""
		}
		if of, ok := m.Value.(*ast.Ident); !ok || of.Name != "string" && of.Name != "int64" {
			return ""
		}
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if name, ok := text(pair.Key); ok && optionNames()[name] {
					return "the option " + name
				}
			}
		}
	}
	return ""
}
