// Command gencharts writes docs/statecharts from the charts in machines/. Run it
// in the module's root; a test fails while the docs are stale.
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
	if err := write("machines", filepath.Join("docs", "statecharts")); err != nil {
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
