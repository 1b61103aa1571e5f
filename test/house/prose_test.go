package house

import (
	"go/ast"
	"go/token"
)

// prose holds what may be done with sentences.
var prose = []rule{
	{
		name: "a handle learns codes from a notice, never its sentence",
		why: "a better sentence must not break a branch: a notice has a Code, a Reason, a Path and a " +
			"Value for programs",
		finds: func(f *file) []finding {
			if f.dir != "." && !f.in(leaves...) || f.test {
				return nil
			}
			return f.each(reads)
		},
		breach: breach{"x.go", `package incumbent; func f(n notice) bool { return n.Text == "the own node is gone" }`},
	},
	{
		name: "a handle takes nothing out of a sentence",
		why:  "what stands in a notice's Text is for people; a field of its own says what a program needs",
		finds: func(f *file) []finding {
			if f.dir != "." && !f.in(leaves...) || f.test {
				return nil
			}
			return f.each(cuts)
		},
		breach: breach{"x.go", `package incumbent; func f(n notice) string { return n.Text[3:] }`},
	},
}

// isText reports whether an expression is a field Text.
func isText(x ast.Expr) bool {
	s, ok := x.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Text"
}

// reads names a comparison of a sentence with anything but nothing.
func reads(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if n.Op != token.EQL && n.Op != token.NEQ {
			return ""
		}
		for _, pair := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			if lit, ok := pair[1].(*ast.BasicLit); isText(pair[0]) && !(ok && lit.Value == `""`) {
				return "compares a sentence"
			}
		}
	case *ast.SwitchStmt:
		if isText(n.Tag) {
			return "switches on a sentence"
		}
	}
	return ""
}

// cuts names what takes a sentence apart.
func cuts(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SliceExpr:
		if isText(n.X) {
			return "cuts a sentence"
		}
	case *ast.CallExpr:
		s, ok := n.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		if pkg, ok := s.X.(*ast.Ident); ok && (pkg.Name == "strings" || pkg.Name == "strconv") {
			for _, arg := range n.Args {
				if isText(arg) {
					return "parses a sentence"
				}
			}
		}
	}
	return ""
}
