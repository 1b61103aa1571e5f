package house

import (
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"testing"
)

const asking = "a handle that forgets a method would lose what it is for without a word: " +
	"make it a method of receiver, for which bareHandle answers if a kind of handle has not what it asks for"

// What the client asks of its handles is in one interface.
func TestNoHandleIsAskedForItsType(t *testing.T) {
	for _, found := range askedForTypes(check(t, ".")) {
		t.Errorf("%s\n\twhy not: %s", found, asking)
	}
}

func TestAHandleThatIsAskedForItsTypeIsFound(t *testing.T) {
	breach := checkText(t, ".", `package incumbent
type receiver interface{ notice() }
type latch struct{}
func (*latch) notice() {}
func a(r receiver) bool { _, is := r.(interface{ seal() }); return is }
func b(all map[string]receiver) { _ = all["x"].(*latch) }
func c(r receiver) { switch r.(type) { case *latch: } }
func d(e any) bool { _, is := e.(*latch); return is }
`)
	if found := askedForTypes(breach); !slices.Equal(found, []string{"./x.go:5", "./x.go:6", "./x.go:7"}) {
		t.Errorf("found %q", found)
	}
}

// askedForTypes returns where a handle is asked whether it is of another type.
func askedForTypes(p *typed) (found []string) {
	handles := p.pkg.Scope().Lookup("receiver").Type()
	for _, tree := range p.trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			if asked, ok := n.(*ast.TypeAssertExpr); ok && types.Identical(p.info.TypeOf(asked.X), handles) {
				at := p.set.Position(asked.Pos())
				found = append(found, at.Filename+":"+strconv.Itoa(at.Line))
			}
			return true
		})
	}
	return found
}
