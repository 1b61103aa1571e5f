package house

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"strings"
	"testing"
)

// typed is one package of this module with its types, without its tests.
type typed struct {
	set   *token.FileSet
	trees []*ast.File
	pkg   *types.Package
	info  *types.Info
}

// exported are the files of export data of all packages that this module's are built of.
var exported map[string]string

func exports(t *testing.T) map[string]string {
	t.Helper()
	if exported == nil {
		exported = map[string]string{}
		for _, line := range golist(t, "", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
			".", "./zkio/zkmem", "./health", "./metrics", "./slogger", "./internal/...", "./cmd/incumbent/program") {
			pkg, export, _ := strings.Cut(line, " ")
			exported[pkg] = export
		}
	}
	return exported
}

// check type-checks the package in a folder, for the system that the tests run on.
func check(t *testing.T, dir string) *typed {
	t.Helper()
	var trees []*ast.File
	built := map[string]bool{}
	for _, name := range strings.Fields(golist(t, "", "-f", `{{range .GoFiles}}{{.}} {{end}}`, "./"+dir)[0]) {
		built[name] = true
	}
	set := token.NewFileSet()
	for _, f := range files(t) {
		if f.dir == dir && built[f.path[strings.LastIndex(f.path, "/")+1:]] {
			trees = append(trees, reparse(t, set, f.path, f.text))
		}
	}
	return checkTrees(t, set, dir, trees)
}

// checkText type-checks a package of one file, which may import what this module does.
func checkText(t *testing.T, dir, text string) *typed {
	t.Helper()
	set := token.NewFileSet()
	return checkTrees(t, set, dir, []*ast.File{reparse(t, set, dir+"/x.go", text)})
}

func checkTrees(t *testing.T, set *token.FileSet, dir string, trees []*ast.File) *typed {
	t.Helper()
	if len(trees) == 0 {
		t.Fatalf("no files in %s", dir)
	}
	all := exports(t)
	lookup := func(p string) (io.ReadCloser, error) { return os.Open(all[p]) }
	config := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Defs:  map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	pkg, err := config.Check(strings.TrimSuffix(module+"/"+dir, "/."), set, trees, info)
	if err != nil {
		t.Fatal(err)
	}
	return &typed{set, trees, pkg, info}
}

func reparse(t *testing.T, set *token.FileSet, path, text string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(set, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
