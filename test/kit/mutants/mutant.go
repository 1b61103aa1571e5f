package mutants

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// Mutant is one bug that can be switched on.
type Mutant struct {
	ID      string // stays the same while the function's own text at this place does
	Dir     string // the package, from the module's root
	File    string
	Line    int
	Mutator string
	Was, Is string // a change of the source, for readers
	edits   []edit // %N stands for the mutant's number
}

// finder looks for mutants in one function.
type finder struct {
	*code
	file  *source
	fn    *ast.FuncDecl
	found []*Mutant
	seen  map[string]int
}

// find returns every mutant of a package, in the order of the source.
func find(c *code) (all []*Mutant) {
	for _, f := range c.files {
		if excludedFile(f) {
			continue
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || excludedFunc(fn) {
				continue
			}
			in := &finder{code: c, file: f, fn: fn, seen: map[string]int{}}
			in.returnAtOnce()
			ast.PreorderStack(fn.Body, []ast.Node{fn}, func(n ast.Node, above []ast.Node) bool {
				if in.excluded(n, above) {
					return false
				}
				in.visit(n, above)
				return true
			})
			all = append(all, in.found...)
		}
	}
	return all
}

// visit adds the mutants of one node.
func (f *finder) visit(n ast.Node, above []ast.Node) {
	parent := above[len(above)-1]
	switch n := n.(type) {
	case *ast.IfStmt:
		f.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.negate(n.Cond)
		}
	case *ast.ReturnStmt:
		f.results(n, above)
	case *ast.CaseClause:
		f.skipCase(n, above)
	case *ast.BinaryExpr:
		f.binary(n, parent)
	case *ast.CallExpr:
		f.swapArguments(n)
	case ast.Stmt:
		if inList(n, parent) {
			f.statement(n)
		}
	}
	if e, ok := n.(ast.Expr); ok {
		f.constant(e, parent)
	}
}

// text returns the source of a node.
func (f *finder) text(n ast.Node) string {
	return string(f.file.text[f.offset(n.Pos()):f.offset(n.End())])
}

// add adds a mutant at a node.
func (f *finder) add(mutator string, n ast.Node, is string, edits ...edit) {
	name := f.fn.Name.Name
	if f.fn.Recv != nil {
		name = strings.Trim(types.ExprString(f.fn.Recv.List[0].Type), "*") + "." + name
	}
	was := strings.Join(strings.Fields(f.text(n)), " ")
	sum := sha256.Sum256([]byte(was + "\n" + is))
	key := fmt.Sprintf("%s:%s:%s:%.3x", f.file.path, name, mutator, sum)
	f.seen[key]++
	f.found = append(f.found, &Mutant{
		ID: fmt.Sprintf("%s:%d", key, f.seen[key]), Dir: f.dir, File: f.file.path, Line: f.set.Position(n.Pos()).Line,
		Mutator: mutator, Was: was, Is: is, edits: edits,
	})
}

// around is an edit that puts text before and after a node.
func (f *finder) around(n ast.Node, before, after string) edit {
	return edit{f.offset(n.Pos()), f.offset(n.End()), true, func(text string, _ func(int, int) string) string {
		return before + text + after
	}}
}

// parts is an edit that puts two parts of a node into a form with %X and %Y.
func (f *finder) parts(n, x, y ast.Node, form string) edit {
	at := f.offset
	return edit{at(n.Pos()), at(n.End()), false, func(_ string, part func(from, to int) string) string {
		return strings.NewReplacer("%X", part(at(x.Pos()), at(x.End())), "%Y",
			part(at(y.Pos()), at(y.End()))).Replace(form)
	}}
}

// inList reports whether a statement stands in a list of statements, so that another statement can stand there.
func inList(s ast.Stmt, parent ast.Node) bool {
	return slices.Contains(list(parent), s)
}

func list(n ast.Node) []ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return n.List
	case *ast.CaseClause:
		return n.Body
	case *ast.CommClause:
		return n.Body
	}
	return nil
}
