package house

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"testing"
)

// smallKnot is how many files of any package may be one knot.
const smallKnot = 12

// knots are the packages with a larger one, and how large it may be. A ceiling only falls. It is at most knotSlack
// above what there is. The goal is 25.
var knots = map[string]int{
	"cmd/incumbent/program": 18,
	"zkio":                  25,
	"internal/world":        25,
	"zkio/zkmem":            24,
	"engine":                19,
}

const knotSlack = 3

// A knot is files of which each uses names that each other one declares, directly or by way of others. It is read,
// tested and moved as a whole.
func TestNoKnotOfFilesGrows(t *testing.T) {
	dirs := slices.Concat(product, tools, leaves, []string{"cmd/incumbent/program"})
	for dir := range knots {
		if !slices.Contains(dirs, dir) {
			t.Errorf("a ceiling for %s, whose files nobody looks at", dir)
		}
	}
	for _, dir := range dirs {
		knot := largestKnot(check(t, dir))
		most := cmp.Or(knots[dir], smallKnot)
		switch {
		case len(knot) > most:
			t.Errorf("%s: %d files are one knot, of at most %d: %v\n"+
				"\twhy not: who changes one of them has to know all: "+
				"let one of them use no name of another", dir, len(knot), most, knot)
		case knots[dir] > 0 && len(knot)+knotSlack < most, knots[dir] > 0 && len(knot) <= smallKnot:
			t.Errorf("%s: %d files are one knot: lower the ceiling from %d", dir, len(knot), most)
		}
	}
}

func TestAKnotIsFound(t *testing.T) {
	set := token.NewFileSet()
	for _, c := range []struct {
		files []string
		want  int
	}{
		{[]string{"type a struct{ b *b }", "type b struct{ c c }", "type c []*a", "var d a"}, 3},
		{[]string{"type a struct{ n int }", "func of(x a) int { return x.n }", "var one = of(a{})"}, 1},
		{[]string{"type a[T any] struct{ n T }", "func (x *a[T]) m() { y = 1 }",
			"var y int; func z(x *a[int]) { x.m() }"}, 2},
	} {
		var trees []*ast.File
		for i, text := range c.files {
			trees = append(trees, reparse(t, set, string(rune('a'+i))+".go", "package x\n"+text))
		}
		if knot := largestKnot(checkTrees(t, set, "x", trees)); len(knot) != c.want {
			t.Errorf("%q: the knot is %v, want %d files", c.files, knot, c.want)
		}
	}
}

// largestKnot returns the names of the files of the largest strongly connected component.
func largestKnot(p *typed) []string {
	uses := map[string]map[string]bool{}
	file := func(at token.Pos) string { return p.set.Position(at).Filename }
	for id, o := range p.info.Uses {
		if o.Pkg() != p.pkg || !o.Pos().IsValid() {
			continue
		}
		from := file(id.Pos())
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][file(origin(o).Pos())] = true
	}
	var largest []string
	reached := map[string]map[string]bool{}
	names := slices.Sorted(maps.Keys(uses))
	for _, name := range names {
		reached[name] = reach(uses, name)
	}
	for _, name := range names {
		knot := []string{name}
		for _, other := range names {
			if other != name && reached[name][other] && reached[other][name] {
				knot = append(knot, other)
			}
		}
		if len(knot) > len(largest) {
			largest = knot
		}
	}
	return largest
}

// origin returns the declared field or method of an instance of a generic type.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Var:
		return o.Origin()
	case *types.Func:
		return o.Origin()
	}
	return o
}

// reach returns the files whose names a file uses, directly or by way of others.
func reach(uses map[string]map[string]bool, from string) map[string]bool {
	found, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		file := next[len(next)-1]
		next = next[:len(next)-1]
		for to := range uses[file] {
			if !found[to] {
				found[to] = true
				next = append(next, to)
			}
		}
	}
	return found
}
