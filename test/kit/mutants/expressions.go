package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// negate: a condition means its opposite.
func (f *finder) negate(cond ast.Expr) {
	f.add("negate", cond, "!("+f.text(cond)+")", f.around(cond, "((", ") != mutant(%N))"))
}

// neighbours are the operators that a comparison can be mistaken for.
var neighbours = map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}

// binary: a condition of two is dropped, a comparison is its neighbour, a sum is a difference.
func (f *finder) binary(e *ast.BinaryExpr, parent ast.Node) {
	if f.info.Types[e].Value != nil {
		return
	}
	switch e.Op {
	case token.LAND, token.LOR:
		before, after := "(mutant(%N) || ", ")"
		if e.Op == token.LOR {
			before = "(!mutant(%N) && ("
			after = "))"
		}
		f.add("drop condition", e.X, "dropped", f.around(e.X, before, after))
		f.add("drop condition", e.Y, "dropped", f.around(e.Y, before, after))
	case token.EQL, token.NEQ:
		switch parent.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.ReturnStmt:
			return // the negation is the same
		}
		f.add("compare", e, "!("+f.text(e)+")", f.around(e, "((", ") != mutant(%N))"))
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		op := neighbours[e.Op]
		form := "(mutant(%N) && %X " + op + " %Y || !mutant(%N) && %X " + e.Op.String() + " %Y)"
		f.add("compare", e, f.text(e.X)+" "+op+" "+f.text(e.Y), f.parts(e, e.X, e.Y, form))
	case token.ADD, token.SUB:
		if !numeric(f.info.Types[e].Type) {
			return
		}
		form, op := "mutantSum(%N, %X, %Y)", " - "
		if e.Op == token.SUB {
			form, op = "mutantDifference(%N, %X, %Y)", " + "
		}
		f.add("arithmetic", e, f.text(e.X)+op+f.text(e.Y), f.parts(e, e.X, e.Y, form))
	}
}

func numeric(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsInteger|types.IsFloat) != 0 && b.Info()&types.IsUntyped == 0
}

// swapArguments: two arguments of one type are in the wrong order. Only names and fields, so that nothing is called
// twice.
func (f *finder) swapArguments(call *ast.CallExpr) {
	if call.Ellipsis.IsValid() || f.info.Types[call.Fun].IsType() {
		return
	}
	for i := 1; i < len(call.Args); i++ {
		x, y := call.Args[i-1], call.Args[i]
		tx, ty := f.info.Types[x], f.info.Types[y]
		if !plain(x) || !plain(y) || f.text(x) == f.text(y) || tx.Value != nil || ty.Value != nil || tx.IsNil() ||
			ty.IsNil() || !types.Identical(tx.Type, ty.Type) {
			continue
		}
		f.add("swap arguments", x, f.text(y)+", "+f.text(x),
			f.around(x, "mutantFirst(%N, ", ", "+f.text(y)+")"), f.around(y, "mutantFirst(%N, ", ", "+f.text(x)+")"))
	}
}

// plain reports whether an expression is a variable or a field of one.
func plain(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(e.X)
	}
	return false
}

// constant: a whole number or a duration is another one.
func (f *finder) constant(e ast.Expr, parent ast.Node) {
	t := f.info.Types[e]
	if t.Value == nil || f.partOfConstant(e, parent) {
		return
	}
	name, ok := f.spelled(t.Type)
	if !ok {
		return
	}
	isZero := t.Value.ExactString() == "0"
	if !isZero {
		f.add("constant", e, "0", f.around(e, "mutantZero["+name+"](%N, ", ")"))
	}
	switch duration := strings.HasSuffix(name, "Duration"); {
	case !duration:
		f.add("constant", e, f.text(e)+"+1", f.around(e, "mutantNext["+name+"](%N, ", ")"))
	case !isZero: // twice nothing is the same
		f.add("constant", e, "twice", f.around(e, "mutantTwice["+name+"](%N, ", ")"))
	}
}

// partOfConstant reports whether the constant is part of a larger one, or has to be one.
func (f *finder) partOfConstant(e ast.Expr, parent ast.Node) bool {
	if p, ok := parent.(ast.Expr); ok && f.info.Types[p].Value != nil {
		return true
	}
	switch p := parent.(type) {
	case *ast.SelectorExpr, *ast.ArrayType, *ast.ValueSpec:
		return true
	case *ast.KeyValueExpr:
		return p.Key == e
	}
	return false
}

// spelled returns how the file names the type of a whole number. An enumeration has none: its next value is another
// word, and a comparison with it is mutated as such.
func (f *finder) spelled(t types.Type) (name string, ok bool) {
	switch t := t.(type) {
	case *types.Basic:
		return t.Name(), t.Info()&types.IsInteger != 0 && t.Info()&types.IsUntyped == 0
	case *types.Named:
		if obj := t.Obj(); obj.Name() == "Duration" && obj.Pkg() != nil && obj.Pkg().Path() == "time" {
			return "time.Duration", f.imports("time")
		}
	}
	return "", false
}

func (f *finder) imports(path string) bool {
	for _, i := range f.file.tree.Imports {
		if i.Path.Value == `"`+path+`"` && i.Name == nil {
			return true
		}
	}
	return false
}
