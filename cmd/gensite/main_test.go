package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The site has a page, which loads its Worker, which loads what make site puts next to it.
func TestTheSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"index.html": "worker.js", "worker.js": "world.wasm"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), says) {
			t.Errorf("%s: %v, and it does not name %s", name, err, says)
		}
	}
	if err := write(filepath.Join(dir, "index.html")); err == nil {
		t.Error("a file is taken for a directory")
	}
}
