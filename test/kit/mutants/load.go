package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// source is one file of a package.
type source struct {
	path string // from the module's root, with slashes
	text []byte
	tree *ast.File
}

// code is one package with its types, without its tests.
type code struct {
	dir   string // from the module's root, with slashes
	set   *token.FileSet
	files []*source
	info  *types.Info
	pkg   *types.Package
}

// offset returns where in its file a position lies.
func (c *code) offset(p token.Pos) int { return c.set.Position(p).Offset }

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir, Export, Name string
	GoFiles                       []string
}

// loader type-checks packages of one module.
type loader struct {
	root    string
	all     map[string]listed // by the folder
	exports map[string]string
}

// newLoader lists the packages in these folders of the module at root, with all that they import.
func newLoader(ctx context.Context, root string, dirs []string) (*loader, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	l := &loader{root: root, all: map[string]listed{}, exports: map[string]string{}}
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,Name,GoFiles"}
	for _, d := range dirs {
		args = append(args, "./"+d)
	}
	out, err := run(ctx, root, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return l, nil
		} else if err != nil {
			return nil, err
		}
		l.all[p.Dir], l.exports[p.ImportPath] = p, p.Export
	}
}

// run runs a command in a folder, and returns what it writes. When the context ends, the command is interrupted, not
// killed: go then waits for its compilers and removes its own files.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var complaint bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &complaint
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 30*time.Second
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, complaint.Bytes())
	}
	return out, nil
}

// load reads and type-checks the package in a folder.
func (l *loader) load(dir string) (*code, error) {
	full := filepath.Join(l.root, dir)
	p, ok := l.all[full]
	if !ok {
		return nil, fmt.Errorf("no Go package in %s", full)
	}
	c := &code{dir: dir, set: token.NewFileSet()}
	for _, name := range slices.Sorted(slices.Values(p.GoFiles)) {
		text, err := os.ReadFile(filepath.Join(full, name))
		if err != nil {
			return nil, err
		}
		path := filepath.ToSlash(filepath.Join(dir, name))
		tree, err := parser.ParseFile(c.set, path, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, &source{path, text, tree})
	}
	return c, l.check(c, p.ImportPath)
}

// check type-checks the files of a package.
func (l *loader) check(c *code, path string) (err error) {
	var trees []*ast.File
	for _, f := range c.files {
		trees = append(trees, f.tree)
	}
	lookup := func(p string) (io.ReadCloser, error) { return os.Open(l.exports[p]) }
	config := types.Config{Importer: importer.ForCompiler(c.set, "gc", lookup)}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
		Defs: map[*ast.Ident]types.Object{}}
	c.pkg, err = config.Check(path, c.set, trees, c.info)
	return err
}
