package embed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages' snippets are in files that are compiled and run: a snippet is one or more
// declarations, each of which the file has, line by line.
func TestThePagesSnippetsAreInTheirFiles(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, page := range pages {
		for _, m := range example.FindAllStringSubmatch(unixText(t, page), -1) {
			file := unixText(t, filepath.Join(root, filepath.FromSlash(m[1])))
			for _, missing := range missingFrom(file, m[2]) {
				t.Errorf("%s: %s does not have\n%s", filepath.Base(page), m[1], missing)
			}
			found++
		}
	}
	if found < 5 {
		t.Errorf("the pages have %d embedded snippets, want 5 or more", found)
	}
	if got := missingFrom("func a() {\n}\n\nfunc b() {\n}\n", "func a() {\n}\n\nfunc b() {\n\treturn\n}\n"); len(got) !=
		1 {
		t.Errorf("found %q in the breach", got)
	}
}

func unixText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// missingFrom returns the declarations of a snippet that a file does not have.
func missingFrom(file, snippet string) (missing []string) {
	for _, declaration := range strings.SplitAfter(snippet, "\n}\n") {
		if declaration = strings.TrimPrefix(declaration, "\n"); !strings.Contains("\n"+file, "\n"+declaration) {
			missing = append(missing, declaration)
		}
	}
	return missing
}
