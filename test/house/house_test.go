// Package house keeps the rules of the house: which room may import what, and
// which kind of line lives where. Every rule has its reason, which is what a
// failure says, and a breach of its own that it must find.
//
// A rule that is in the way is either wrong, and is then changed here together
// with ARCHITECTURE.md, or right, and then the code is in the wrong room.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/incumbent-go/incumbent"
	root   = "../.."
)

// rule is one sentence that every Go file keeps.
type rule struct {
	name   string
	why    string
	finds  func(*file) []finding
	breach breach
}

// breach is a file that a rule must find something in.
type breach struct{ path, text string }

// finding is one place where a rule is broken.
type finding struct {
	at   token.Pos
	what string
}

// file is one Go file of the module.
type file struct {
	path   string // from the module's root, with slashes
	dir    string // "." for the door
	test   bool   // a _test.go file, or anything in test/
	nested bool   // in a module of its own, below the root
	text   string
	set    *token.FileSet
	tree   *ast.File
	local  map[string]string // names of imports here: "zk" → its path
}

func parse(path_, text string) (*file, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path_, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	f := &file{path: path_, dir: path.Dir(path_), text: text, set: set, tree: tree, local: map[string]string{}}
	f.test = strings.HasSuffix(path_, "_test.go") || under(f.dir, "test")
	for _, spec := range tree.Imports {
		imported := imported(spec)
		name := path.Base(strings.TrimSuffix(imported, "/v2"))
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.local[name] = imported
	}
	return f, nil
}

func imported(spec *ast.ImportSpec) string {
	p, _ := strconv.Unquote(spec.Path.Value)
	return p
}

// under reports whether a folder or import is another one or lies in it.
func under(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

func (f *file) line(at token.Pos) int { return f.set.Position(at).Line }

func (f *file) in(dirs ...string) bool {
	for _, d := range dirs {
		if f.dir == d {
			return true
		}
	}
	return false
}

// called is "time.Now" for a selector on an import, whatever its name here.
func (f *file) called(n ast.Node) string {
	s, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := s.X.(*ast.Ident)
	if !ok || f.local[x.Name] == "" {
		return ""
	}
	return f.local[x.Name] + "." + s.Sel.Name
}

// each collects what a look at every node of the file says.
func (f *file) each(look func(ast.Node) string) []finding {
	var all []finding
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if n != nil {
			if what := look(n); what != "" {
				all = append(all, finding{n.Pos(), what})
			}
		}
		return true
	})
	return all
}

// imports collects what a look at every import of the file says.
func (f *file) imports(look func(string) string) []finding {
	var all []finding
	for _, spec := range f.tree.Imports {
		if what := look(imported(spec)); what != "" {
			all = append(all, finding{spec.Pos(), what})
		}
	}
	return all
}

// house is every Go file there is.
var house = sync.OnceValues(func() ([]*file, error) {
	var all []*file
	err := walk(func(path_, text string) error {
		if !strings.HasSuffix(path_, ".go") {
			return nil
		}
		f, err := parse(path_, text)
		all = append(all, f)
		return err
	})
	if err != nil {
		return nil, err
	}
	modules, err := nestedModules()
	for _, f := range all {
		f.nested = slices.ContainsFunc(modules, func(dir string) bool { return under(f.dir, dir) })
	}
	return all, err
})

// walk visits the files of the checkout, and nothing that git would ignore.
func walk(visit func(path_, text string) error) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == ".cache" || rel == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || rel == ".git" { // a file in a linked worktree
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return visit(rel, string(text))
	})
}

func files(t *testing.T) []*file {
	t.Helper()
	all, err := house()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rules() []rule {
	var all []rule
	for _, some := range [][]rule{arrows, modules, purity, worlds, sources, tidiness, naming, prose, machineNames,
		optionRules, sleeping, seeds, tests, amounts, sequential} {
		all = append(all, some...)
	}
	return all
}

func TestTheHouseKeepsItsRules(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range files(t) {
				for _, found := range r.finds(f) {
					t.Errorf("%s:%d: %s\n\twhy not: %s", f.path, f.line(found.at), found.what, r.why)
				}
			}
		})
	}
}

// A rule that finds nothing anywhere would look the same as one that is kept.
func TestEveryRuleFindsItsBreach(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			f, err := parse(r.breach.path, r.breach.text)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.finds(f)) == 0 {
				t.Errorf("nothing wrong in %s:\n%s", r.breach.path, r.breach.text)
			}
		})
	}
}
