package house

import (
	"flag"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the listings of the API in docs/api anew")

// kept are the packages that keep their API, and the listing of each.
var kept = map[string]string{".": "docs/api/incumbent.txt", "slogger": "docs/api/slogger.txt",
	"zkio/zkmem": "docs/api/zkmem.txt"}

// A change of the API is seen as such: in a listing, one line for each exported thing.
func TestTheAPIIsTheListedOne(t *testing.T) {
	for dir, name := range kept {
		now := listing(check(t, dir).pkg)
		path := filepath.Join(root, filepath.FromSlash(name))
		if *rewrite {
			if err := os.WriteFile(path, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if changed := difference(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), now); len(changed) > 0 {
			t.Errorf("the API is not the one of %s:\n\t%s\nIf that is meant, accept it by `make api`. What is removed "+
				"or changed breaks programs that use it: after version 1 that takes a new major version",
				name, strings.Join(changed, "\n\t"))
		}
	}
}

func TestAChangeOfTheAPIIsFound(t *testing.T) {
	before := listing(checkText(t, ".", `package incumbent
import "github.com/incumbent-go/incumbent/zkio"
const Many = 3
type Latch struct { Path string; secret int; Adapter *zkio.TLS }
func (l *Latch) Start(n int) error { return nil }
func (l *Latch) stop() {}
type Queue[T any] struct{}
func (q Queue[T]) Put(items ...T) {}
type Lockable interface { Lock() }
type Number interface { ~int | ~string }
func Open() (l *Latch) { return nil }
var ErrClosed error
`).pkg)
	want := []string{
		"const Many = 3",
		"func Open() (l *Latch)",
		"method (*Latch) Start(n int) error",
		"method (Queue[T any]) Put(items ...T)",
		"type Latch struct",
		"type Latch struct, field Adapter *zkio.TLS",
		"type Latch struct, field Path string",
		"type Lockable interface",
		"type Lockable interface, method Lock()",
		"type Number interface",
		"type Number interface, embeds ~int | ~string",
		"type Queue[T any] struct",
		"type zkio.TLS struct",
		"type zkio.TLS struct, field CA string",
		"type zkio.TLS struct, field Cert string",
		"type zkio.TLS struct, field Config *tls.Config",
		"type zkio.TLS struct, field Key string",
		"var ErrClosed error",
	}
	if !slices.Equal(before, want) {
		t.Errorf("listed\n%s", strings.Join(before, "\n"))
	}
	after := slices.Clone(before)
	after[0] = "const Many = 4"
	if got, want := difference(before, after),
		[]string{"- const Many = 3", "+ const Many = 4"}; !slices.Equal(got, want) {
		t.Errorf("the difference is %q, want %q", got, want)
	}
}

// difference returns the lines that were removed, and those that were added.
func difference(before, after []string) (changed []string) {
	for _, line := range before {
		if !slices.Contains(after, line) {
			changed = append(changed, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			changed = append(changed, "+ "+line)
		}
	}
	return changed
}

// listing has a line for everything that a package exports, and for what it names of
// this module's other packages: programs depend on that, too.
func listing(pkg *types.Package) []string {
	l := &lister{home: pkg, listed: map[*types.TypeName]bool{}}
	for _, name := range pkg.Scope().Names() {
		if o := pkg.Scope().Lookup(name); o.Exported() {
			l.add(o)
		}
	}
	for i := 0; i < len(l.foreign); i++ { // it grows
		of := l.foreign[i]
		l.add(of)
		scope := of.Pkg().Scope()
		for _, name := range scope.Names() {
			if c, ok := scope.Lookup(name).(*types.Const); ok && c.Exported() && types.Identical(c.Type(), of.Type()) {
				l.add(c)
			}
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines)
}

// lister collects lines.
type lister struct {
	home    *types.Package
	lines   []string
	listed  map[*types.TypeName]bool
	foreign []*types.TypeName
}

func (l *lister) say(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// named writes packages by their names, and notes which types of this module's others
// are named.
func (l *lister) named(pkg *types.Package) string {
	if pkg == l.home {
		return ""
	}
	return pkg.Name()
}

func (l *lister) text(t types.Type) string {
	l.reach(t)
	return types.TypeString(t, l.named)
}

func (l *lister) signature(f *types.Func) string {
	l.reach(f.Type())
	return f.Name() + strings.TrimPrefix(types.TypeString(f.Type(), l.named), "func")
}

func (l *lister) add(o types.Object) {
	name := o.Name()
	if o.Pkg() != l.home {
		name = o.Pkg().Name() + "." + name
	}
	switch o := o.(type) {
	case *types.Const:
		of := " " + l.text(o.Type())
		if strings.HasPrefix(of, " untyped ") {
			of = ""
		}
		l.say("const %s%s = %s", name, of, o.Val().ExactString())
	case *types.Var:
		l.say("var %s %s", name, l.text(o.Type()))
	case *types.Func:
		l.say("func %s", l.signature(o))
	case *types.TypeName:
		l.addType(name, o)
	}
}

func (l *lister) addType(name string, o *types.TypeName) {
	if alias, ok := o.Type().(*types.Alias); ok {
		l.say("type %s = %s", name, l.text(alias.Rhs()))
		return
	}
	named := o.Type().(*types.Named)
	shown := name + strings.TrimPrefix(types.TypeString(named, func(*types.Package) string { return "" }), o.Name())
	if named.TypeParams() != nil {
		shown = name + strings.TrimPrefix(strings.TrimPrefix(types.ObjectString(o, l.named), "type "+o.Name()), " ")
		shown, _, _ = strings.Cut(shown, " struct{")
		shown, _, _ = strings.Cut(shown, " interface{")
	}
	switch u := named.Underlying().(type) {
	case *types.Struct:
		l.say("type %s struct", shown)
		for f := range u.Fields() {
			if f.Exported() {
				l.say("type %s struct, field %s %s", shown, f.Name(), l.text(f.Type()))
			}
		}
	case *types.Interface:
		l.say("type %s interface", shown)
		for embedded := range u.EmbeddedTypes() {
			l.say("type %s interface, embeds %s", shown, l.text(embedded))
		}
		for m := range u.ExplicitMethods() {
			l.say("type %s interface, method %s", shown, l.signature(m))
		}
	default:
		l.say("type %s %s", shown, l.text(u))
	}
	if types.IsInterface(named) {
		return
	}
	for m := range types.NewMethodSet(types.NewPointer(named)).Methods() {
		f := m.Obj().(*types.Func)
		if !f.Exported() {
			continue
		}
		star := "*"
		if types.NewMethodSet(named).Lookup(f.Pkg(), f.Name()) != nil {
			star = ""
		}
		l.say("method (%s%s) %s", star, types.TypeString(named, l.named), l.signature(f))
	}
}

// reach notes the types of this module's other packages that a type is made of.
func (l *lister) reach(t types.Type) {
	switch t := t.(type) {
	case *types.Named:
		o := t.Obj()
		for arg := range t.TypeArgs().Types() {
			l.reach(arg)
		}
		if o.Pkg() != nil && o.Pkg() != l.home && under(o.Pkg().Path(), module) && !l.listed[o] {
			l.listed[o] = true
			l.foreign = append(l.foreign, o)
		}
	case *types.Pointer:
		l.reach(t.Elem())
	case *types.Slice:
		l.reach(t.Elem())
	case *types.Array:
		l.reach(t.Elem())
	case *types.Chan:
		l.reach(t.Elem())
	case *types.Map:
		l.reach(t.Key())
		l.reach(t.Elem())
	case *types.Tuple:
		for v := range t.Variables() {
			l.reach(v.Type())
		}
	case *types.Signature:
		l.reach(t.Params())
		l.reach(t.Results())
	}
}
