package embed

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The declarations that a guide's snippet may use.
const given = `package guides

import (
	"context"
	"errors"
	"log"
	"time"

	"github.com/incumbent-go/incumbent"
)

var (
	_ = []any{context.Canceled, errors.New, log.Print, time.Second}

	ctx        context.Context
	client     *incumbent.Client
	leadership *incumbent.Leadership
)

func report(context.Context, int64) error { return nil }
`

// The snippets of the guides are bodies of functions. Each is compiled as one, and an
// error has the guide's name and line.
func TestTheSnippetsOfTheGuidesCompile(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob(filepath.Join(root, "docs", "coming-from-*.md"))
	if err != nil || len(guides) != 3 {
		t.Fatalf("the guides are %q: %v", guides, err)
	}
	dir := embedder(t, root, "package main\n\nfunc main() {}\n")
	sources := filepath.Join(dir, "guides")
	if err := os.Mkdir(sources, 0o700); err != nil {
		t.Fatal(err)
	}
	code := given
	for _, guide := range guides {
		snippets, functions := bodies(t, guide)
		if snippets < 3 {
			t.Errorf("%s has %d snippets", filepath.Base(guide), snippets)
		}
		code += functions
	}
	if err := os.WriteFile(filepath.Join(sources, "guides.go"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := try(t, dir, "go", "build", "-gcflags=-e", "./guides"); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

// bodies writes a function for each snippet in the file, and counts them.
func bodies(t *testing.T, name string) (snippets int, functions string) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		if lines[i] != "```go" {
			continue
		}
		begins := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		code := []byte(strings.Join(lines[begins:i], "\n"))
		if formatted, err := format.Source(code); err != nil || !bytes.Equal(formatted, code) {
			t.Errorf("%s:%d: not as gofmt has it: %v\n%s", filepath.Base(name), begins+1, err, formatted)
		}
		functions += fmt.Sprintf("\nfunc _() error {\n//line %s:%d\n%s\nreturn nil\n}\n",
			filepath.Base(name), begins+1, code)
		snippets++
	}
	return snippets, functions
}
