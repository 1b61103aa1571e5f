package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// Build is one build with all mutants in it. Its test binaries are compiled when they are first needed.
type Build struct {
	Mutants []*Mutant

	root, folder, overlay string
	targets               map[string]Target
	mu                    sync.Mutex
	binaries              map[string]func() (string, error) // by the package
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
	b := &Build{Mutants: all, root: root, folder: folder, targets: map[string]Target{},
		binaries: map[string]func() (string, error){}}
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

// binary returns the test binary of a package. Only the first call compiles it: one that is interrupted leaves none.
func (b *Build) binary(ctx context.Context, dir string) (string, error) {
	b.mu.Lock()
	once := b.binaries[dir]
	if once == nil {
		once = sync.OnceValues(func() (string, error) { return b.compile(ctx, dir) })
		b.binaries[dir] = once
	}
	b.mu.Unlock()
	return once()
}

func (b *Build) compile(ctx context.Context, dir string) (string, error) {
	name := filepath.Join(b.folder, "tests_"+strings.NewReplacer("/", "_", ".", "root").Replace(dir)+".exe")
	if _, err := run(ctx, b.root, "go", "test", "-c", "-vet=off", "-overlay", b.overlay, "-o", name, "./"+dir); err !=
		nil {
		return "", fmt.Errorf("no test binary of %s with mutants in it: %w", dir, err)
	}
	return name, nil
}

// environment returns the environment of a run: that of this process at the level of quick, and no mutant of it. Quick
// starts no servers, so what INCUMBENT_REQUIRE asks for is left out: a test that needs one would fail.
func environment() (env []string) {
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, Variable) && !strings.HasPrefix(e, "INCUMBENT_REQUIRE=") {
			env = append(env, e)
		}
	}
	return append(env, selection.Quick.Setting())
}
