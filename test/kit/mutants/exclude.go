package mutants

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

// What is excluded, because no test should notice it:
//
//   - generated files
//   - what only makes a text for people: the files in texts, the methods in textMethods, arguments of fmt, errors.New
//     and zerolog, and functions that fill a line of the log
//   - panics for programming errors, with their conditions
//   - sizes that are only hints: of make's slices and maps, of slices.Grow
//   - rows of charts: MustCompile refuses a wrong one when it is used for the first time
//   - assignments to _

// texts are files that draw or describe charts for people.
var texts = regexp.MustCompile(`^(draw\w*|describe)\.go$`)

var textMethods = []string{"String", "Error", "GoString", "Format", "MarshalZerologObject", "MarshalText"}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func excludedFile(f *source) bool {
	return generated.Match(f.text) || texts.MatchString(path.Base(f.path))
}

func excludedFunc(fn *ast.FuncDecl) bool {
	return fn.Recv != nil && slices.Contains(textMethods, fn.Name.Name)
}

// excluded reports whether nothing at a node and below it is mutated.
func (f *finder) excluded(n ast.Node, above []ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return len(n.Body.List) == 1 && panics(n.Body.List[0])
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		return ok && (panics(n) || f.makesText(call))
	case *ast.CallExpr:
		return f.makesText(n) || f.hint(n, above[len(above)-1])
	case *ast.FuncLit:
		return f.fillsLine(n)
	case *ast.CompositeLit:
		return strings.HasPrefix(named(f.info.Types[n].Type), "engine.Row")
	case ast.Expr:
		return f.hint(n, above[len(above)-1])
	case *ast.GenDecl:
		return n.Tok == token.CONST || n.Tok == token.TYPE
	}
	return false
}

func panics(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

// called returns the function that a call calls by its name; nil for others.
func (f *finder) called(call *ast.CallExpr) types.Object {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return f.info.Uses[fun]
	case *ast.SelectorExpr:
		return f.info.Uses[fun.Sel]
	}
	return nil
}

// makesText reports whether a call makes a text for people.
func (f *finder) makesText(call *ast.CallExpr) bool {
	obj := f.called(call)
	if obj == nil || obj.Pkg() == nil {
		return false
	}
	switch obj.Pkg().Path() {
	case "fmt":
		return true
	case "github.com/rs/zerolog":
		return true
	case "errors":
		return obj.Name() == "New"
	}
	return false
}

// fillsLine reports whether a function fills a line of the log.
func (f *finder) fillsLine(fn *ast.FuncLit) bool {
	for _, p := range fn.Type.Params.List {
		if t := f.info.Types[p.Type].Type; t != nil && strings.HasPrefix(named(t), "zerolog.") {
			return true
		}
	}
	return false
}

// named returns the name of a type, or of what it points to.
func named(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// hint reports whether an expression only says how much memory may be needed.
func (f *finder) hint(e ast.Expr, parent ast.Node) bool {
	call, ok := parent.(*ast.CallExpr)
	if !ok || len(call.Args) < 2 || e != call.Args[len(call.Args)-1] {
		return false
	}
	switch obj := f.called(call).(type) {
	case *types.Builtin:
		_, isMap := f.info.Types[call].Type.Underlying().(*types.Map)
		return obj.Name() == "make" && (isMap || len(call.Args) == 3)
	case *types.Func:
		return obj.FullName() == "slices.Grow"
	}
	return false
}
