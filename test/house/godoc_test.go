package house

import (
	"go/doc"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// Users read the library by go doc. What an exported type can do is shown there under
// the type itself, each method with a comment; go doc leaves out what an embedded
// exported type, or an alias, brings along.
func TestGoDocShowsEveryMethod(t *testing.T) {
	for _, dir := range []string{".", "zkio/zkmem"} {
		for _, hidden := range undocumented(t, check(t, dir)) {
			t.Errorf("%s: %s\n\twhy not: go doc is where users look for what a handle can do; declare the method on "+
				"the type, with a comment, and let it call the part's", dir, hidden)
		}
	}
}

func TestHiddenMethodsAreFound(t *testing.T) {
	breach := checkText(t, ".", `package incumbent
import "github.com/incumbent-go/incumbent/zkio"
// Stat is shown without its fields.
type Stat = zkio.Stat
// Request is exported.
type Request[T any] struct{}
// Do is not shown for CreateRequest.
func (r *Request[T]) Do() {}
// CreateRequest embeds it.
type CreateRequest struct{ Request[string] }
type part struct{}
// Path is shown for Latch.
func (p *part) Path() string { return "" }
func (p *part) Start() {}
// Latch embeds what is not exported.
type Latch struct{ part }
func (l Latch) String() string { return "" }
`)
	want := []string{
		"CreateRequest.Do is not shown",
		"Latch.Start has no comment",
		"Stat is an alias: go doc shows neither its fields nor its methods",
	}
	if got := undocumented(t, breach); !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

// undocumented returns the exported methods that go doc does not show, or shows without a
// comment. It takes the package's trees away.
func undocumented(t *testing.T, p *typed) (found []string) {
	t.Helper()
	shown := map[string]string{}
	docs, err := doc.NewFromFiles(p.set, p.trees, p.pkg.Path())
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range docs.Types {
		for _, m := range of.Methods {
			shown[of.Name+"."+m.Name] = m.Doc + " "
		}
	}
	for _, name := range p.pkg.Scope().Names() {
		of, ok := p.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || !of.Exported() {
			continue
		}
		if of.IsAlias() {
			found = append(found, name+" is an alias: go doc shows neither its fields nor its methods")
			continue
		}
		on := of.Type()
		if !types.IsInterface(on) { // whose methods stand in its declaration
			on = types.NewPointer(on)
		}
		for m := range types.NewMethodSet(on).Methods() {
			method := m.Obj().Name()
			text, there := shown[name+"."+method]
			switch {
			case !m.Obj().Exported() || types.IsInterface(on):
			case !there:
				found = append(found, name+"."+method+" is not shown")
			case strings.TrimSpace(text) == "" && !wellKnown[method]:
				found = append(found, name+"."+method+" has no comment")
			}
		}
	}
	return found
}
