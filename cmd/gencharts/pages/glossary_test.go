package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

func TestGlossaryKnowsEveryName(t *testing.T) {
	decls, err := read("../../../machines")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range machines.Recipes() {
		d := r.Describe()
		words, err := decls.glossary(d)
		if err != nil {
			t.Fatal(err)
		}
		for name, meaning := range words {
			if strings.HasPrefix(meaning, name+" ") || strings.Contains(meaning, "\n") || meaning == "" {
				t.Errorf("%s: %s: %q", d.Name, name, meaning)
			}
		}
		d.Rows = append(d.Rows, engine.RowDoc{Guard: "madeUp"})
		if _, err := decls.glossary(d); err == nil || !strings.Contains(err.Error(), "madeUp") {
			t.Errorf("a guard that is declared nowhere: %v", err)
		}
	}
}

// What a model has from a part is explained by the part, and not by another
// model's function of the same name.
func TestGlossaryFollowsParts(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "parts.go", `package parts
		type bell struct{}
		// loud is a bell that is heard.
		func (bell) loud() {}
		type ringer struct{ bell }
		type tower struct{ ringer }
		type drum struct{}
		// loud is a drum that is beaten.
		func (drum) loud() {}`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	decls := source{map[string]*ast.FuncDecl{}, map[string][]string{}}
	decls.add(file)
	words, err := decls.glossary(engine.Description{Model: "tower", Rows: []engine.RowDoc{{Guard: "loud"}}})
	if err != nil || words["loud"] != "a bell that is heard." {
		t.Errorf("%q, %v", words, err)
	}
}
