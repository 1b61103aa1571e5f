package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
)

// returnAtOnce: a function without results does nothing.
func (f *finder) returnAtOnce() {
	if f.fn.Type.Results != nil || len(f.fn.Body.List) < 2 {
		return // of a single statement, the removal does the same
	}
	at := f.offset(f.fn.Body.Lbrace) + 1
	f.add("return at once", f.fn.Name, "does nothing",
		edit{at, at, true, func(string, func(int, int) string) string { return " if mutant(%N) { return };" }})
}

// statement: a statement is left out.
func (f *finder) statement(s ast.Stmt) {
	mutator := ""
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		if !ok {
			return
		}
		mutator = "remove call"
		if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "delete" {
			mutator = "remove delete"
		}
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || blank(s.Lhs) {
			return
		}
		mutator = "remove assignment"
	case *ast.IncDecStmt:
		mutator = "remove assignment"
	case *ast.DeferStmt:
		mutator = "remove defer"
	case *ast.GoStmt, *ast.SendStmt:
		mutator = "remove call"
	case *ast.BranchStmt:
		if s.Tok != token.BREAK && s.Tok != token.CONTINUE {
			return
		}
		mutator = "remove branch"
	default:
		return
	}
	f.add(mutator, s, "", f.around(s, "if !mutant(%N) { ", " }"))
}

// blank reports whether every variable is the blank one.
func blank(all []ast.Expr) bool {
	for _, e := range all {
		if name, ok := e.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	return true
}

// skipCase: what stands under a case is not done.
func (f *finder) skipCase(c *ast.CaseClause, above []ast.Node) {
	if len(c.List) == 0 || len(c.Body) == 0 || f.ends(above) {
		return
	}
	if last, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt); ok && last.Tok == token.FALLTHROUGH {
		return
	}
	at := f.offset(c.Colon) + 1
	f.add("skip case", c.List[0], "does nothing",
		edit{at, at, true, func(string, func(int, int) string) string { return " if mutant(%N) { break };" }})
}

// ends reports whether the switch around a case may be what ends a function with results: with a break in it, the
// compiler would miss a return.
func (f *finder) ends(above []ast.Node) bool {
	results := f.fn.Type.Results
	for i := len(above) - 1; i > 0; i-- {
		switch n := above[i].(type) {
		case *ast.FuncLit:
			return n.Type.Results != nil
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			if all := list(above[i-1]); len(all) > 0 && all[len(all)-1] != n {
				return false
			}
		}
	}
	return results != nil
}

// results: a function returns the opposite of a bool, or the zero value in place of another result.
func (f *finder) results(s *ast.ReturnStmt, above []ast.Node) {
	sig := f.signature(above)
	if sig == nil || len(s.Results) != sig.Len() {
		return
	}
	for i, e := range s.Results {
		t := f.info.Types[e]
		switch is, ok := sig.At(i).Type().Underlying().(*types.Basic); {
		case ok && is.Info()&types.IsBoolean != 0:
			f.negate(e)
		case t.IsNil() || t.Value != nil || !types.Identical(t.Type, sig.At(i).Type()) || zero(e):
		default:
			f.add("return zero", e, "the zero value", f.around(e, "mutantZero(%N, ", ")"))
		}
	}
}

// zero reports whether an expression is a composite literal without elements.
func zero(e ast.Expr) bool {
	lit, ok := e.(*ast.CompositeLit)
	return ok && len(lit.Elts) == 0
}

// signature returns the results of the innermost function.
func (f *finder) signature(above []ast.Node) *types.Tuple {
	for i := len(above) - 1; i > 0; i-- {
		if lit, ok := above[i].(*ast.FuncLit); ok {
			return f.info.Types[lit].Type.(*types.Signature).Results()
		}
	}
	return f.info.Defs[f.fn.Name].Type().(*types.Signature).Results()
}
