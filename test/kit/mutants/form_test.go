package mutants

import (
	"go/parser"
	"testing"
)

// TestEveryMutantCompiles: all mutants of all packages, in one source.
func TestEveryMutantCompiles(t *testing.T) {
	var dirs []string
	for _, target := range targets {
		dirs = append(dirs, target.Dir)
	}
	l, err := newLoader(t.Context(), root, dirs)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		c, err := l.load(dir)
		if err != nil {
			t.Fatal(err)
		}
		all := find(c)
		counts := map[string]int{}
		for _, m := range all {
			counts[m.Mutator]++
		}
		t.Log(dir, len(all), counts)
		texts := rewrite(c, all)
		wrong := &code{dir: dir, set: c.set}
		for _, f := range c.files {
			if text, ok := texts[f.path]; ok {
				f.text = []byte(text)
			}
			wrong.files = append(wrong.files, f)
			delete(texts, f.path)
		}
		for path, text := range texts {
			wrong.files = append(wrong.files, &source{path: path, text: []byte(text)})
		}
		for _, f := range wrong.files {
			if f.tree, err = parser.ParseFile(wrong.set, f.path, f.text, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.check(wrong, l.all[l.root].ImportPath); err != nil {
			t.Errorf("%s with all mutants: %v", dir, err)
		}
	}
}
