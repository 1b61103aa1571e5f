// Command gensite writes the playground as a static site into a directory: the page, the program for WebAssembly that
// plays its worlds, and as files what the page can show before that program runs. Any server of files may serve it; one
// that compresses saves most. It needs the go command, and runs in the module, or in one that requires it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/internal/play/web"
)

// program is what becomes world.wasm.
const program = "github.com/incumbent-go/incumbent/cmd/playwasm"

func main() {
	dir, err := directory(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "gensite:", err)
		os.Exit(64)
	}
	if err := write(dir); err != nil {
		fmt.Fprintln(os.Stderr, "gensite:", err)
		os.Exit(1)
	}
}

// directory returns the one argument.
func directory(args []string) (string, error) {
	if len(args) != 1 || args[0] == "" || strings.HasPrefix(args[0], "-") {
		return "", fmt.Errorf("want one argument, the directory, such as .cache/site, and not %q", args)
	}
	return args[0], nil
}

// write writes the site.
func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files, err := pages()
	if err != nil {
		return err
	}
	if files["wasm_exec.js"], err = support(); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return build(filepath.Join(dir, "world.wasm"))
}

// pages returns the page and its Worker, what the page offers, and the worlds that it can show at once: the first one
// and the lessons'.
func pages() (map[string][]byte, error) {
	files, err := web.Site()
	if err != nil {
		return nil, err
	}
	catalogue := play.NewCatalogue()
	if files["catalogue.json"], err = json.Marshal(catalogue); err != nil {
		return nil, err
	}
	if files["first.json"], err = world(catalogue.First); err != nil {
		return nil, err
	}
	for i, link := range catalogue.Duel {
		if files[fmt.Sprintf("duel-%d.json", i)], err = world(link); err != nil {
			return nil, err
		}
	}
	for _, l := range catalogue.Lessons {
		if files["lesson-"+l.ID+".json"], err = world(l.Link); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// world returns the answer to a link, as the program in world.wasm gives it.
func world(link string) ([]byte, error) {
	request, err := json.Marshal(play.Request{Link: link})
	if err != nil {
		return nil, err
	}
	answer, ok := new(play.Host).AskJSON(request)
	if !ok {
		return nil, fmt.Errorf("%s: %s", link, answer)
	}
	return answer, nil
}

// build builds the program for WebAssembly.
func build(file string) error {
	c := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, program)
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", program, err, out)
	}
	return nil
}

// support returns wasm_exec.js of the Go that builds the program: they belong together.
func support() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	file := filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js")
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing: install Go 1.24 or later with its lib folder", file)
	}
	return text, err
}
