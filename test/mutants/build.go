package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/incumbent-go/incumbent/test/selection"
)

// Build is one build with all mutants in it. Its test binaries are compiled when they are first needed.
type Build struct {
	Mutants []*Mutant

	root, folder, overlay string
	targets               map[string]Target
	mu                    sync.Mutex
	binaries              map[string]string // by the package
}

// NewBuild draws the mutants, and writes sources with all of them into a folder.
func NewBuild(ctx context.Context, root, folder string, targets []Target, seed int) (*Build, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	all, codes, err := sample(ctx, root, targets, seed)
	if err != nil {
		return nil, err
	}
	b := &Build{Mutants: all, root: root, folder: folder, targets: map[string]Target{}, binaries: map[string]string{}}
	texts := map[string]string{}
	for i, c := range codes {
		b.targets[c.dir] = targets[i]
		for path, text := range rewrite(c, all) {
			texts[path] = text
		}
	}
	b.overlay, err = writeOverlay(root, folder, texts)
	return b, err
}

// binary returns the test binary of a package.
func (b *Build) binary(ctx context.Context, dir string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if name, ok := b.binaries[dir]; ok {
		return name, nil
	}
	name := filepath.Join(b.folder, "tests_"+strings.NewReplacer("/", "_", ".", "root").Replace(dir)+".exe")
	if _, err := run(ctx, b.root, "go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", name, "./"+dir); err != nil {
		return "", fmt.Errorf("no test binary of %s with mutants in it: %w", dir, err)
	}
	b.binaries[dir] = name
	return name, nil
}

// environment returns the environment of a run: that of this process at the level of quick, and no mutant of it.
func environment() (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, Variable) {
			env = append(env, e)
		}
	}
	return append(env, selection.Quick.Setting())
}
