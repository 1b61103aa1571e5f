package pages

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/incumbent-go/incumbent/engine"
)

// source has every function of a package, by "Type.name" and by name, and of
// every struct the parts that it embeds.
type source struct {
	funcs map[string]*ast.FuncDecl
	parts map[string][]string
}

// method returns the declaration of a type's method: its own, or that of one of its
// parts, the outermost first, as in Go.
func (decls source) method(model, name string) *ast.FuncDecl {
	for level := []string{model}; len(level) > 0; {
		var next []string
		for _, t := range level {
			if decl := decls.funcs[t+"."+name]; decl != nil {
				return decl
			}
			next = append(next, decls.parts[t]...)
		}
		level = next
	}
	return nil
}

// glossary returns what a chart's guards and actions do: their doc comments or, without
// one, their short code. A name that is declared nowhere is an error.
func (decls source) glossary(d engine.Description) (map[string]string, error) {
	words := map[string]string{}
	for _, r := range d.Rows {
		for _, name := range append([]string{r.Guard}, r.Actions...) {
			if name == "" {
				continue
			}
			decl := decls.method(d.Model, name)
			if decl == nil {
				decl = decls.funcs[name]
			}
			if decl == nil {
				return nil, fmt.Errorf("drawing: chart %s names %s, which its package does not declare", d.Name, name)
			}
			meaning := sentences(name, decl.Doc.Text())
			if meaning == "" {
				meaning = body(decl)
			}
			if meaning != "" {
				words[name] = meaning
			}
		}
	}
	return words, nil
}

// read parses a package's folder, without its tests.
func read(dir string) (source, error) {
	decls := source{map[string]*ast.FuncDecl{}, map[string][]string{}}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return decls, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			return decls, err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments)
		if err != nil {
			return decls, err
		}
		decls.add(parsed)
	}
	return decls, nil
}

// add adds a file's functions, and the parts of its structs.
func (decls source) add(file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			decls.funcs[n.Name.Name] = n
			if t := receiver(n); t != "" {
				decls.funcs[t+"."+n.Name.Name] = n
			}
			return false
		case *ast.TypeSpec:
			if of, ok := n.Type.(*ast.StructType); ok {
				for _, field := range of.Fields.List {
					if part, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 {
						decls.parts[n.Name.Name] = append(decls.parts[n.Name.Name], part.Name)
					}
				}
			}
		}
		return true
	})
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// sentences returns a comment's first sentence, and all of a comment that is about
// another function first, or about several.
func sentences(name, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	first := new(doc.Package).Synopsis(text)
	if rest, ok := strings.CutPrefix(first, name+" "); ok {
		if is, ok := strings.CutPrefix(rest, "is "); ok {
			rest = is
		}
		return rest
	}
	return first
}

// body returns the code of a function without a comment, if it is as short as a
// sentence: one expression, or a few calls one after another.
func body(f *ast.FuncDecl) string {
	if len(f.Body.List) == 1 {
		if r, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			var b strings.Builder
			if printer.Fprint(&b, token.NewFileSet(), r.Results[0]) == nil && !strings.Contains(b.String(), "\n") {
				return "`" + b.String() + "`"
			}
		}
	}
	var calls []string
	for _, stmt := range f.Body.List {
		e, ok := stmt.(*ast.ExprStmt)
		if !ok {
			return ""
		}
		call, ok := e.X.(*ast.CallExpr)
		if !ok {
			return ""
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return ""
		}
		calls = append(calls, sel.Sel.Name)
	}
	if len(calls) < 2 {
		return ""
	}
	return strings.Join(calls, ", then ") + "."
}
