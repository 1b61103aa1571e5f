package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir   string
	GoFiles, CgoFiles []string
	ImportMap         map[string]string // what an import means, where that is not its own path
	Module            *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check checks the types of the packages in dir that the patterns name, their tests among them, as on a system. It
// returns how many they are.
func check(dir, goos, goarch string, patterns ...string) (int, error) {
	packages, err := list(dir, goos, goarch, patterns)
	if err != nil {
		return 0, err
	}
	c := checker{fset: token.NewFileSet(), sizes: types.SizesFor("gc", goarch),
		done: map[string]*types.Package{"unsafe": types.Unsafe}}
	if c.sizes == nil {
		return 0, fmt.Errorf("no such processor")
	}
	n := 0
	for _, p := range packages { // dependencies come first
		if strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == "unsafe" {
			continue // the first is made by go test
		}
		if err := c.check(p); err != nil {
			return 0, err
		}
		if p.own() {
			n++
		}
	}
	return n, nil
}

// list returns the packages, their tests, and what both depend on, in the order of dependencies.
func list(dir, goos, goarch string, patterns []string) (all []listed, err error) {
	cmd := exec.Command("go",
		append([]string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,CgoFiles,ImportMap,Module,Error"},
			patterns...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, said.Bytes())
	}
	for lines := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := lines.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		case p.Error != nil:
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		all = append(all, p)
	}
}

// own reports whether the package is of the module that is checked.
func (p listed) own() bool { return p.Module != nil && p.Module.Main }

type checker struct {
	fset  *token.FileSet
	sizes types.Sizes
	done  map[string]*types.Package
}

// check checks a package. Of one of another module it reads what is declared only.
func (c *checker) check(p listed) error {
	var files []*ast.File
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	var found []error
	config := types.Config{
		Importer: importer{c.done, p.ImportMap}, Sizes: c.sizes, IgnoreFuncBodies: !p.own(), FakeImportC: true,
		Error: func(err error) { found = append(found, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ") // the variant for a test has its test's name behind it
	pkg, _ := config.Check(path, c.fset, files, nil)
	c.done[p.ImportPath] = pkg
	return errors.Join(found...)
}

// importer imports what is checked already.
type importer struct {
	done map[string]*types.Package
	as   map[string]string
}

func (i importer) Import(path string) (*types.Package, error) {
	if other := i.as[path]; other != "" {
		path = other
	}
	if pkg := i.done[path]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("%s is not listed before it is imported", path)
}
