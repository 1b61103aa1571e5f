package mutants

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Variable is the environment variable with the number of the mutant that is on; reachVariable names a file to which a
// binary appends the number of every mutant that it comes to.
const (
	Variable      = "INCUMBENT_MUTANT"
	reachVariable = "INCUMBENT_MUTANT_REACH"
)

// switchFile is a file that each package with mutants gets.
const switchFile = "zz_mutant.go"

//go:embed switch.txt
var switchText string

// rewrite returns a package's files with mutants in them, by their paths from the module's root. A mutant's number is
// its place among all, from 1 on.
func rewrite(c *code, all []*Mutant) map[string]string {
	edits := map[string][]edit{}
	for i, m := range all {
		if m.Dir != c.dir {
			continue
		}
		for _, e := range m.edits {
			put, number := e.put, strconv.Itoa(i+1)
			e.put = func(text string, part func(int, int) string) string {
				return strings.ReplaceAll(put(text, part), "%N", number) // what lies within has its own numbers
			}
			edits[m.File] = append(edits[m.File], e)
		}
	}
	texts := map[string]string{filepath.ToSlash(filepath.Join(c.dir, switchFile)): strings.Replace(switchText,
		"package mutants", "package "+c.pkg.Name(), 1)}
	for _, f := range c.files {
		if len(edits[f.path]) > 0 {
			texts[f.path] = render(f.text, edits[f.path])
		}
	}
	return texts
}

// writeOverlay writes texts into a folder, and returns the file that tells the compiler to take them in place of the
// module's.
func writeOverlay(root, folder string, texts map[string]string) (string, error) {
	replace := map[string]string{}
	for path, text := range texts {
		name := filepath.Join(folder, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, path)] = name
	}
	out, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	return name, os.WriteFile(name, out, 0o644)
}
