// Command incumbentvet finds requests that are never sent. Client.Create and its kind
// only return a request: Do, Background or Guaranteed sends it. A call without one of
// them has no effect, and no error. go vet runs it:
//
//	go install github.com/incumbent-go/incumbent/cmd/incumbentvet@latest
//	go vet -vettool=$(which incumbentvet) ./...
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	var err error
	switch arg := os.Args[len(os.Args)-1]; { // go vet puts flags of its own before it
	case arg == "-V=full":
		err = version()
	case arg == "-flags":
		fmt.Println("[]")
	case strings.HasSuffix(arg, ".cfg"):
		err = vet(arg)
	default:
		fail(fmt.Sprintf("%q: go vet runs this: go vet -vettool=$(which incumbentvet) ./...", os.Args[1:]))
	}
	if err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "incumbentvet: "+text)
	os.Exit(2)
}

// version prints the identity of the tool, for go vet: another build has another.
func version() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	fmt.Printf("%s version devel buildID=%x\n", filepath.Base(program), sum.Sum(nil))
	return nil
}

// unit has what go vet writes about one package.
type unit struct {
	Compiler    string
	ImportPath  string
	GoVersion   string
	GoFiles     []string
	ImportMap   map[string]string // as written in the source → path
	PackageFile map[string]string // path → export data
	VetxOnly    bool
	VetxOutput  string

	SucceedOnTypecheckFailure bool
}

// vet checks one package, and ends the program with status 1 if something is found.
func vet(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var u unit
	if err := json.Unmarshal(text, &u); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if u.VetxOutput != "" { // go vet wants the file
		if err := os.WriteFile(u.VetxOutput, nil, 0o666); err != nil {
			return err
		}
	}
	if u.VetxOnly {
		return nil
	}
	set := token.NewFileSet()
	found, err := u.check(set)
	if err != nil {
		if u.SucceedOnTypecheckFailure {
			return nil
		}
		return err
	}
	for _, f := range found {
		fmt.Fprintf(os.Stderr, "%s: %s\n", set.Position(f.at), f.what)
	}
	if len(found) > 0 {
		os.Exit(1)
	}
	return nil
}

func (u *unit) check(set *token.FileSet) ([]finding, error) {
	var trees []*ast.File
	for _, name := range u.GoFiles {
		tree, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		file, ok := u.PackageFile[path]
		if !ok {
			return nil, fmt.Errorf("go vet names no export data of %s", path)
		}
		return os.Open(file)
	}
	compiled := importer.ForCompiler(set, u.Compiler, lookup)
	config := types.Config{
		Importer: importFunc(func(path string) (*types.Package, error) {
			if mapped, ok := u.ImportMap[path]; ok {
				path = mapped
			}
			if path == "unsafe" {
				return types.Unsafe, nil
			}
			return compiled.Import(path)
		}),
		GoVersion: u.GoVersion,
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if _, err := config.Check(u.ImportPath, set, trees, info); err != nil {
		return nil, err
	}
	return unsent(trees, info), nil
}

type importFunc func(path string) (*types.Package, error)

func (f importFunc) Import(path string) (*types.Package, error) { return f(path) }
