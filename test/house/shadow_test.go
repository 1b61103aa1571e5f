package house

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"testing"
)

const shadowing = "Go has no virtual calls: the part goes on calling its own, and a reader of one of the " +
	"two does not " +
	"know of the other; give the part a name, and call what it does by that"

// A model of machines, and a handle at the door, is made of parts. What embeds a part
// has no field and no method of a name that the part has, nor have two of its parts.
func TestNoPartIsShadowed(t *testing.T) {
	for _, dir := range []string{".", "machines"} {
		p := check(t, dir)
		for _, hidden := range slices.Concat(shadows(p.pkg), unfitDefaults(p)) {
			t.Errorf("%s\n\twhy not: %s", hidden, shadowing)
		}
	}
}

// defaults is the one part whose methods are there to be hidden: they answer for what a kind of handle has not. It has
// nothing, and its methods do not know it, so it calls none of its own.
const defaults = "bareHandle"

// isDefault reports whether a method is one of the defaults.
func isDefault(method types.Object) bool {
	of, ok := deref(method.(*types.Func).Signature().Recv().Type()).(*types.Named)
	return ok && of.Obj().Name() == defaults
}

// unfitDefaults returns what the part of defaults must not have.
func unfitDefaults(p *typed) (found []string) {
	of := p.pkg.Scope().Lookup(defaults)
	if of == nil {
		return nil
	}
	if fields, ok := of.Type().Underlying().(*types.Struct); !ok || fields.NumFields() > 0 {
		found = append(found, defaults+" has fields")
	}
	for _, tree := range p.trees {
		for _, d := range tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if ok && fn.Recv != nil && receiver(fn) == defaults && len(fn.Recv.List[0].Names) > 0 {
				found = append(found, defaults+"."+fn.Name.Name+" knows its receiver")
			}
		}
	}
	return found
}

func TestDefaultsMayBeHidden(t *testing.T) {
	text := func(defaults string) *typed {
		return checkText(t, ".", `package incumbent
type bareHandle struct{`+defaults+`
func (bareHandle) seal() {}
type handle struct{ bareHandle }
type line struct{ handle }
func (l *line) seal() {}
`)
	}
	fit, unfit := text("}"), text(" n int }\nfunc (b bareHandle) count() int { return b.n }")
	if found := append(shadows(fit.pkg), unfitDefaults(fit)...); len(found) > 0 {
		t.Errorf("found %q", found)
	}
	want := []string{"bareHandle has fields", "bareHandle.count knows its receiver"}
	if found := unfitDefaults(unfit); !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
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
					found = append(found,
						fmt.Sprintf("%s.%s hides the one of %s", name, hidden,
							types.TypeString(deref(f.Type()), func(*types.Package) string { return "" })))
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
		if !isDefault(m.Obj()) {
			names[m.Obj().Name()] = true
		}
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
