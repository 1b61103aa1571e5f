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

// apart are the handles of participants that Close gives no grace and Stats does not list: Job.Run ends them.
var apart = []string{"jobWorker"}

// A handle that holds a participant says so: otherwise Close would not limit its work, and Stats would leave it out.
func TestAHandleOfAParticipantSaysSo(t *testing.T) {
	found := silentParticipants(check(t, "."))
	if !slices.Equal(found, apart) {
		t.Errorf("handles that hold a participant, and do not declare asParticipant: %q, want %q", found, apart)
	}
}

func TestASilentParticipantIsFound(t *testing.T) {
	breach := checkText(t, ".", `package incumbent
type receiver interface{ asParticipant() *participant }
type bareHandle struct{}
func (bareHandle) asParticipant() *participant { return nil }
type handle struct{ bareHandle }
type participant struct{ handle }
type latch struct{ bareHandle; participant participant }
type election struct{ bareHandle; latch latch }
type mutex struct{ participant }
func (m *mutex) asParticipant() *participant { return &m.participant }
type number struct{ handle; last *participant }
`)
	if found := silentParticipants(breach); !slices.Equal(found, []string{"election", "latch"}) {
		t.Errorf("found %q", found)
	}
}

// silentParticipants returns the handles that hold a participant, for which the defaults answer that there is none.
func silentParticipants(p *typed) (found []string) {
	participant := p.pkg.Scope().Lookup("participant").Type()
	handles := p.pkg.Scope().Lookup("receiver").Type().Underlying().(*types.Interface)
	for _, name := range p.pkg.Scope().Names() {
		of, ok := p.pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || types.Identical(of.Type(), participant) || !holds(of.Type(), participant) {
			continue
		}
		on := types.NewPointer(of.Type())
		says := types.NewMethodSet(on).Lookup(p.pkg, "asParticipant")
		if types.Implements(on, handles) && isDefault(says.Obj()) {
			found = append(found, name)
		}
	}
	return found
}

// holds reports whether a struct has a value of a type in it, or in one of its fields.
func holds(of, what types.Type) bool {
	if types.Identical(of, what) {
		return true
	}
	fields, ok := of.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range fields.Fields() {
		if holds(f.Type(), what) {
			return true
		}
	}
	return false
}
