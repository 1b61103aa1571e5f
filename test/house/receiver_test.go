package house

import (
	"fmt"
	"go/ast"
	"go/doc"
	"maps"
	"slices"
	"strings"
	"testing"
)

const oneName = "a reader who has learnt the name in one method knows it in all; one letter or a short word, the " +
	"same in each file"

func TestATypesReceiversHaveOneName(t *testing.T) {
	for _, found := range receivers(files(t)) {
		t.Errorf("%s\n\twhy not: %s", found, oneName)
	}
	for _, found := range shownReceivers(t, check(t, ".")) {
		t.Errorf("%s in go doc\n\twhy not: %s", found, oneName)
	}
}

func TestAnotherReceiversNameIsFound(t *testing.T) {
	var breach []*file
	for path, text := range map[string]string{
		"zkio/a.go": "package zkio\nfunc (p pipe[T]) read() {}\nfunc (*pipe[T]) close() {}",
		"zkio/b.go": "package zkio\nfunc (x *pipe[T]) write() {}\nfunc (_ *pipe[T]) open() {}",
		"cmd/b.go":  "package cmd\nfunc (y pipe) write() {}",
	} {
		f, err := parse(path, text)
		if err != nil {
			t.Fatal(err)
		}
		breach = append(breach, f)
	}
	if got := receivers(breach); !slices.Equal(got, []string{"zkio: the receiver of pipe is called p and x"}) {
		t.Errorf("found %q", got)
	}
	shown := checkText(t, ".", `package incumbent
type part struct{}
// Path is shown for Latch.
func (p *part) Path() {}
// Latch is a type.
type Latch struct{ part }
// Start is its own.
func (l *Latch) Start() {}
`)
	if got := shownReceivers(t, shown); !slices.Equal(got, []string{"the receiver of Latch is called l and p"}) {
		t.Errorf("found %q", got)
	}
}

// receivers returns the types whose methods call their receiver by several names.
func receivers(all []*file) (found []string) {
	names := map[string]map[string]bool{}
	for _, f := range all {
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				note(names, f.dir+": the receiver of "+receiver(fn), fn)
			}
		}
	}
	return several(names)
}

// shownReceivers returns those of go doc, which shows methods of parts as if they were the
// type's own. It takes the package's trees away.
func shownReceivers(t *testing.T, p *typed) []string {
	t.Helper()
	docs, err := doc.NewFromFiles(p.set, p.trees, p.pkg.Path())
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]map[string]bool{}
	for _, of := range docs.Types {
		for _, m := range of.Methods {
			note(names, "the receiver of "+of.Name, m.Decl)
		}
	}
	return several(names)
}

func note(names map[string]map[string]bool, of string, fn *ast.FuncDecl) {
	if names[of] == nil {
		names[of] = map[string]bool{}
	}
	for _, name := range fn.Recv.List[0].Names {
		if name.Name != "_" {
			names[of][name.Name] = true
		}
	}
}

func several(names map[string]map[string]bool) (found []string) {
	for _, of := range slices.Sorted(maps.Keys(names)) {
		if len(names[of]) > 1 {
			found = append(found,
				fmt.Sprintf("%s is called %s", of, strings.Join(slices.Sorted(maps.Keys(names[of])), " and ")))
		}
	}
	return found
}
