package house

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// Limits of length. A test's function may be longer: a table is no harder to read for it.
const fileLines, funcLines, testFuncLines = 400, 70, 100

var tidiness = []rule{
	{
		name: "no file is too long",
		why:  "a long file usually holds two rooms, or two nouns",
		finds: func(f *file) []finding {
			if lines := strings.Count(f.text, "\n"); lines > fileLines {
				return []finding{{f.tree.Package, fmt.Sprintf("%d lines, of %d", lines, fileLines)}}
			}
			return nil
		},
		breach: breach{"machines/x.go", "package machines\n" + strings.Repeat("\n", fileLines)},
	},
	{
		name: "no function is too long",
		why:  "what does not fit on a screen is not read as a whole",
		finds: func(f *file) []finding {
			limit := funcLines
			if f.test {
				limit = testFuncLines
			}
			var found []finding
			for _, d := range f.tree.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if lines := f.line(fn.End()) - f.line(fn.Pos()) + 1; lines > limit {
					found = append(found,
						finding{fn.Pos(), fmt.Sprintf("%s has %d lines, of %d", fn.Name.Name, lines, limit)})
				}
			}
			return found
		},
		breach: breach{"machines/x.go", "package machines\nfunc f() {\n" + strings.Repeat("\n", funcLines) + "}"},
	},
	{
		name: "what is exported is explained",
		why:  "the documentation is the door's face: a name without a sentence is a question to its reader",
		finds: func(f *file) []finding {
			// In x_other.go stand the names that x_linux.go or its like explains.
			if strings.HasSuffix(f.path, "_test.go") || strings.HasSuffix(f.path, "_other.go") ||
				f.tree.Name.Name == "main" {
				return nil
			}
			var found []finding
			for _, d := range f.tree.Decls {
				for _, name := range unexplained(d) {
					found = append(found, finding{name.Pos(), name.Name + " has no comment"})
				}
			}
			return found
		},
		breach: breach{"x.go", "package incumbent\nfunc Explain() {}"},
	},
	{
		name: "every sentinel error has a sentence",
		why: "whoever compares with a sentinel must know when it comes and what to do, and whoever reads it in a " +
			"log, where it comes from",
		finds: func(f *file) []finding {
			if f.test || f.tree.Name.Name == "main" {
				return nil
			}
			return sentinels(f)
		},
		breach: breach{"x.go", "package incumbent\nimport \"errors\"\n// ErrNo is it.\nvar ErrNo = " +
			"errors.New(\"incumbent: no\")"},
	},
}

// wellKnown are methods whose name says it all.
var wellKnown = map[string]bool{
	"String": true, "Error": true, "Unwrap": true, "Is": true, "As": true, "Format": true, "GoString": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"MarshalZerologObject": true, "Len": true, "Less": true, "Swap": true, "Push": true, "Pop": true,
}

// unexplained returns the exported names of a declaration that have no comment. A
// comment on a group does for all of it.
func unexplained(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() &&
			(d.Recv == nil || ast.IsExported(receiver(d)) && !wellKnown[d.Name.Name]) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Doc == nil && d.Doc == nil && s.Name.IsExported() {
					names = append(names, s.Name)
				}
			case *ast.ValueSpec:
				for _, name := range s.Names {
					if s.Doc == nil && s.Comment == nil && d.Doc == nil && name.IsExported() {
						names = append(names, name)
					}
				}
			}
		}
		return names
	}
	return nil
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch t := x.(type) {
		case *ast.StarExpr:
			x = t.X
		case *ast.IndexExpr:
			x = t.X
		case *ast.IndexListExpr:
			x = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

// sentinels finds exported Err… variables that are not explained by a sentence
// of at least four words, or whose message does not say whose it is.
func sentinels(f *file) []finding {
	var found []finding
	for _, d := range f.tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			name := v.Names[0].Name
			if !strings.HasPrefix(name, "Err") || !v.Names[0].IsExported() {
				continue
			}
			doc := v.Doc
			if doc == nil && len(g.Specs) == 1 {
				doc = g.Doc
			}
			text := strings.TrimSpace(doc.Text())
			if !strings.HasPrefix(text, name) || len(strings.Fields(text)) < 5 || !strings.HasSuffix(text, ".") {
				found = append(found, finding{v.Pos(), fmt.Sprintf("%s is explained by %q", name, text)})
			}
			if m := message(f, v); m != "" && library(f) && !strings.HasPrefix(m, signs(f)) {
				found = append(found,
					finding{v.Pos(), fmt.Sprintf("the message of %s does not begin with %q", name, signs(f))})
			}
		}
	}
	return found
}

// signs returns what a sentinel's message begins with: a user of the library
// knows the rooms behind the door by its name only.
func signs(f *file) string {
	if f.dir == "zkio" || f.dir == "internal/fault" {
		return "incumbent: "
	}
	return f.tree.Name.Name + ": "
}

// message returns the words of errors.New; "" for a sentinel made otherwise.
func message(f *file, v *ast.ValueSpec) string {
	if len(v.Values) != 1 {
		return ""
	}
	call, ok := v.Values[0].(*ast.CallExpr)
	if !ok || f.called(call.Fun) != "errors.New" || len(call.Args) != 1 {
		return ""
	}
	lit, ok := call.Args[0].(*ast.BasicLit)
	if !ok {
		return ""
	}
	return strings.Trim(lit.Value, "\"`")
}
