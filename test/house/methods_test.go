package house

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mostMethods is how many methods a machine's type may declare. Those of its parts do not count.
const mostMethods = 60

func TestMachinesHaveFewMethods(t *testing.T) {
	count := methods(files(t))
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if n := count[name]; n > mostMethods {
			t.Errorf("%s has %d methods, of %d\n\twhy not: nobody keeps more in mind: move some to a part", name, n,
				mostMethods)
		}
	}
}

func TestMethodsAreCounted(t *testing.T) {
	var breach []*file
	for path, text := range map[string]string{
		"machines/a.go":      "func (p *pipe[T]) a() {}\nfunc (pipe[T]) b() {}\nfunc (w wire) a() {}",
		"machines/b.go":      "func (p *pipe[T]) c() {}",
		"machines/c_test.go": strings.Repeat("func (w *wire) m() {}\n", mostMethods),
		"zkio/a.go":          "func (w *wire) m() {}",
	} {
		f, err := parse(path, "package x\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		breach = append(breach, f)
	}
	if got := methods(breach); !maps.Equal(got, map[string]int{"pipe": 3, "wire": 1}) {
		t.Errorf("counted %v", got)
	}
}

// methods returns how many methods each type of a machine declares.
func methods(all []*file) map[string]int {
	count := map[string]int{}
	for _, f := range all {
		if f.test || !f.in("machines") {
			continue
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				count[receiver(fn)]++
			}
		}
	}
	return count
}
