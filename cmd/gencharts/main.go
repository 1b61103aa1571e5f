// Command gencharts writes docs/statecharts from the charts in machines/, and the lessons in docs/playground.md from
// those in play. Run it in the module's root; a test fails while the docs are stale.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/incumbent-go/incumbent/cmd/gencharts/pages"
	"github.com/incumbent-go/incumbent/engine"
	"github.com/incumbent-go/incumbent/machines"
)

func main() {
	err := write("machines", filepath.Join("docs", "statecharts"))
	if err == nil {
		err = lessons(filepath.Join("docs", "playground.md"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gencharts:", err)
		os.Exit(1)
	}
}

func write(source, target string) error {
	var charts []engine.Description
	for _, r := range machines.Recipes() {
		charts = append(charts, r.Describe())
	}
	files, err := pages.All(source, charts...)
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(target, "*"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, ok := files[filepath.Base(file)]; !ok {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for name, page := range files {
		if err := os.WriteFile(filepath.Join(target, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lessons writes the lessons into a page.
func lessons(file string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page, err := pages.WithLessons(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(page), 0o644)
}
