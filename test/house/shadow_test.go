package house

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"testing"
)

const shadowing = "Go has no virtual calls: the part goes on calling its own, and a reader of one of the two does not know of the other; give the part a name, and call what it does by that"

// A model of machines, and a handle at the door, is made of parts. What embeds a part
// has no field and no method of a name that the part has, nor have two of its parts.
func TestNoPartIsShadowed(t *testing.T) {
	for _, dir := range []string{".", "machines"} {
		for _, hidden := range shadows(check(t, dir).pkg) {
			t.Errorf("%s\n\twhy not: %s", hidden, shadowing)
		}
	}
}

func TestAShadowedPartIsFound(t *testing.T) {
	breach := checkText(t, "machines", `package machines
type part struct{ count int }
func (p *part) leave() {}
type half struct{ part }
type list[T any] struct{ items []T }
func (l *list[T]) add(T) {}
type whole struct{ *half; count string } // a field, hidden through another part
func (w *whole) leave() {}               // a method
type numbers struct{ list[int] }
func (n *numbers) add(int) {}            // of a part with a type parameter
type partner struct{}
func (p *partner) leave() {}
type pair struct{ half; partner } // of two parts: the one that is less deep is called
type leaver interface{ leave() }
type guest struct{ leaver }
func (g *guest) leave() {}        // of an interface
type sound struct{ part; half half }
func (s *sound) enter() { s.leave() }
`)
	want := []string{
		"guest.leave hides the one of leaver",
		"numbers.add hides the one of list[int]",
		"pair.leave is of half and of partner",
		"whole.count hides the one of half",
		"whole.leave hides the one of half",
	}
	if got := shadows(breach.pkg); !slices.Equal(got, want) {
		t.Errorf("found %q\nwant  %q", got, want)
	}
}

// shadows returns the fields and methods of structs that hide those of an embedded part,
// and those that two embedded parts have.
func shadows(pkg *types.Package) (found []string) {
	for _, name := range pkg.Scope().Names() {
		of, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok || of.IsAlias() {
			continue
		}
		named := of.Type().(*types.Named)
		fields, ok := named.Underlying().(*types.Struct)
		if !ok {
			continue
		}
		own := map[string]bool{}
		for m := range named.Methods() {
			own[m.Name()] = true
		}
		for f := range fields.Fields() {
			own[f.Name()] = true
		}
		parts := map[string]string{} // by each name that one of them has
		for f := range fields.Fields() {
			if !f.Embedded() {
				continue
			}
			names := members(f.Type())
			for _, both := range slices.Sorted(maps.Keys(names)) {
				if beside, ok := parts[both]; ok {
					found = append(found, fmt.Sprintf("%s.%s is of %s and of %s", name, both, beside, f.Name()))
				}
				parts[both] = f.Name()
			}
			for _, hidden := range slices.Sorted(maps.Keys(own)) {
				if names[hidden] && hidden != f.Name() {
					found = append(found, fmt.Sprintf("%s.%s hides the one of %s", name, hidden, types.TypeString(deref(f.Type()), func(*types.Package) string { return "" })))
				}
			}
		}
	}
	return found
}

// members returns the names of all fields and methods of a type, those of what it embeds
// included.
func members(of types.Type) map[string]bool {
	names := map[string]bool{}
	of = deref(of)
	methods := types.NewMethodSet(types.NewPointer(of))
	if types.IsInterface(of) {
		methods = types.NewMethodSet(of)
	}
	for m := range methods.Methods() {
		names[m.Obj().Name()] = true
	}
	if fields, ok := of.Underlying().(*types.Struct); ok {
		for f := range fields.Fields() {
			names[f.Name()] = true
			if f.Embedded() {
				maps.Copy(names, members(f.Type()))
			}
		}
	}
	return names
}

func deref(t types.Type) types.Type {
	if p, ok := t.(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
