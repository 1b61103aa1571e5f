package house

import (
	"bytes"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// golist runs go list in the module's root.
func golist(t *testing.T, goos string, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = os.Environ()
	if goos != "" {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "CGO_ENABLED=0")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// linked are the modules whose code an embedding program links. zerolog brings
// the two of mattn.
var linked = []string{
	"github.com/go-zookeeper/zk",
	module,
	"github.com/looplab/fsm",
	"github.com/mattn/go-colorable",
	"github.com/mattn/go-isatty",
	"github.com/rs/zerolog",
	"golang.org/x/sys",
}

// heavy are packages of the standard library that belong to the programs or to tests.
var heavy = []string{"net/http", "net/rpc", "html/template", "text/template", "testing", "flag", "go/ast", "expvar",
	"embed", "os/exec", "plugin", "database/sql", "image"}

// harness is the package that plants bugs in charts.
const harness = module + "/test/kit/mutate"

// A harness that is somewhere else would not be missed where it must not be.
func TestTheHarnessIsThere(t *testing.T) {
	if got := golist(t, "", harness); !slices.Equal(got, []string{harness}) {
		t.Errorf("%s is %v", harness, got)
	}
	if paths := golist(t, "", "-deps", "./cmd/demo"); slices.Contains(paths, harness) {
		t.Errorf("the program links %s\n\twhy not: it plants bugs in charts", harness)
	}
	if paths := golist(t, "", "-deps", "./test/worlds/sim"); !slices.Contains(paths, harness) {
		t.Errorf("the simulation does not link %s: then what plants its bugs?", harness)
	}
}

func TestWhatAnEmbeddingProgramLinks(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		var mods, paths []string
		for _, line := range golist(t, goos, "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", ".") {
			pkg, mod, _ := strings.Cut(line, " ")
			paths = append(paths, pkg)
			if mod != "" {
				mods = append(mods, mod)
			}
		}
		want := slices.Clone(linked)
		if goos == "windows" { // go-colorable asks Windows itself
			want = slices.DeleteFunc(want, func(m string) bool { return m == "github.com/mattn/go-isatty" })
		}
		slices.Sort(mods)
		if mods = slices.Compact(mods); !slices.Equal(mods, want) {
			t.Errorf("on %s an embedding program links %v\n\tinstead of %v\n\twhy not: whoever embeds the library "+
				"must not pay for the programs, or for a whim", goos, mods, want)
		}
		for _, p := range heavy {
			if slices.Contains(paths, p) {
				t.Errorf("on %s an embedding program links %s\n\twhy not: it must not pay for the programs "+
					"or for tests", goos, p)
			}
		}
		for _, p := range paths {
			if rel, ok := strings.CutPrefix(p, module+"/"); ok && !slices.Contains(rooms["."], rel) {
				t.Errorf("on %s an embedding program links the room %s\n\twhy not: only the rooms behind the "+
					"door are for it", goos, rel)
			}
		}
		if slices.Contains(paths, harness) {
			t.Errorf("on %s an embedding program links %s\n\twhy not: it plants bugs in charts", goos, harness)
		}
	}
}

// Ranging over a map is found by its type. The engine and the world may collect what
// has no order, or gets one afterwards; the minds may not range at all.
func TestNoOrderOfAMap(t *testing.T) {
	exports := map[string]string{}
	for _, line := range golist(t, "", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./machines",
		"./zkio/zkmem", "./internal/play") {
		pkg, export, _ := strings.Cut(line, " ")
		exports[pkg] = export
	}
	for _, dir := range []string{"machines", "events", "engine", "internal/plaindata", "internal/world",
		"internal/play"} {
		var trees []*ast.File
		set := token.NewFileSet()
		for _, f := range files(t) {
			if f.dir != dir || f.test {
				continue
			}
			tree, err := parser.ParseFile(set, f.path, f.text, 0)
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, tree)
		}
		for _, at := range mapLoops(t, set, dir, trees, exports) {
			t.Errorf("%s: ranges over a map\n\twhy not: its order differs from run to run, and the same log must give "+
				"the same effects, byte for byte", set.Position(at))
		}
		if len(trees) == 0 {
			t.Errorf("no files in %s", dir)
		}
	}
}

func TestMapLoopsAreFound(t *testing.T) {
	for _, dir := range []string{"machines", "engine", "internal/world", "internal/play"} {
		f, err := parse(dir+"/x.go",
			"package x\nfunc f(m map[int]int) (n int) { for _, v := range m { n = n*3 + v }; return }")
		if err != nil {
			t.Fatal(err)
		}
		if len(mapLoops(t, f.set, dir, []*ast.File{f.tree}, nil)) != 1 {
			t.Errorf("a loop over a map in %s was not found", dir)
		}
	}
}

// mapLoops type-checks a package and returns its loops over maps, but for those
// of the engine that only collect.
func mapLoops(t *testing.T, set *token.FileSet, dir string, trees []*ast.File, exports map[string]string) []token.Pos {
	t.Helper()
	lookup := func(p string) (io.ReadCloser, error) { return os.Open(exports[p]) }
	config := types.Config{Importer: importer.ForCompiler(set, "gc", lookup)}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := config.Check(module+"/"+dir, set, trees, &info); err != nil {
		t.Fatal(err)
	}
	var found []token.Pos
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			loop, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			if _, ok := info.Types[loop.X].Type.Underlying().(*types.Map); ok &&
				!((dir == "engine" || dir == "internal/world") && collects(loop)) {
				found = append(found, loop.Pos())
			}
			return true
		})
	}
	return found
}

// collects reports whether a loop only appends, or puts true into sets: nobody
// can see in which order.
func collects(loop *ast.RangeStmt) bool {
	only := true
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.AssignStmt:
			only = only && len(s.Rhs) == 1 && (isCallOf(s.Rhs[0], "append") || isName(s.Rhs[0], "true"))
		case *ast.BlockStmt, *ast.IfStmt, *ast.RangeStmt:
		case ast.Stmt:
			only = false
		}
		return only
	})
	return only
}

func isCallOf(x ast.Expr, name string) bool {
	call, ok := x.(*ast.CallExpr)
	return ok && isName(call.Fun, name)
}

func isName(x ast.Expr, name string) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == name
}
