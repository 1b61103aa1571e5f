package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

const library = "github.com/incumbent-go/incumbent"

// finding is one request that is never sent.
type finding struct {
	at   token.Pos
	what string
}

// unsent finds statements that create a request and drop it. A request that is kept in a variable
// and never sent is not found.
func unsent(trees []*ast.File, info *types.Info) (found []finding) {
	drop := func(x ast.Expr) {
		if call, ok := ast.Unparen(x).(*ast.CallExpr); ok {
			if name := request(info, call); name != "" && made(info, call) {
				found = append(found,
					finding{call.Pos(), fmt.Sprintf("this %s is never sent: call Do, or Background, on it", name)})
			}
		}
	}
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt:
				drop(n.X)
			case *ast.DeferStmt:
				drop(n.Call)
			case *ast.GoStmt:
				drop(n.Call)
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if isBlank(left) && len(n.Lhs) == len(n.Rhs) {
						drop(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return found
}

// request returns the name of the library's type that the expression has, if it is one
// of a request: a type that can be sent by Do or Background.
func request(info *types.Info, x ast.Expr) string {
	p, ok := info.Types[x].Type.(*types.Pointer)
	if !ok {
		return ""
	}
	named, ok := types.Unalias(p.Elem()).(*types.Named)
	if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != library {
		return ""
	}
	for _, method := range []string{"Do", "Background"} {
		if m, _, _ := types.LookupFieldOrMethod(p, true, named.Obj().Pkg(), method); m == nil {
			return ""
		}
	}
	return named.Obj().Name()
}

// made reports whether this expression creates the request. One that is in a variable
// can be sent later: r.Ephemeral() changes it.
func made(info *types.Info, call *ast.CallExpr) bool {
	s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok || request(info, s.X) == "" {
		return !given(info, call) // such a function may send what it was given
	}
	inner, ok := ast.Unparen(s.X).(*ast.CallExpr)
	return ok && made(info, inner)
}

// given reports whether a function takes a request, which it may send.
func given(info *types.Info, call *ast.CallExpr) bool {
	return slices.ContainsFunc(call.Args, func(x ast.Expr) bool { return request(info, x) != "" })
}

func isBlank(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "_"
}
