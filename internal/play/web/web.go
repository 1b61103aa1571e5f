package web

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/incumbent-go/incumbent/internal/page"
)

//go:embed assets/*.js assets/play.css assets/play.html
var assets embed.FS

// Use says what runs the page's worlds.
type Use int

// Uses.
const (
	Server Use = iota // what serves the page: it is asked at "ask" and "catalogue" next to the page
	// a Worker with world.wasm and wasm_exec.js next to the page, and files with what is shown before it runs
	Static
)

// HTML returns the page: one file with its script and its style. What else it loads comes from where it came from: see
// Use.
func HTML(use Use) ([]byte, error) {
	s, err := newShell()
	if err != nil {
		return nil, err
	}
	policy, back := page.Policy(s.script, s.style, page.Live), "server"
	if use == Static {
		policy, back = policy+"; worker-src 'self'", "worker"
	}
	fill := strings.NewReplacer("{{POLICY}}", policy, "{{STYLE}}", s.style, "{{SCRIPT}}", s.script, "{{BACK}}", back)
	return []byte(fill.Replace(s.html)), nil
}

// Site returns the page of the static site and its Worker, by the names of their files. The other files are those that
// Static names: cmd/gensite writes all of them.
func Site() (map[string][]byte, error) {
	html, err := HTML(Static)
	if err != nil {
		return nil, err
	}
	worker, err := assets.ReadFile("assets/worker.js")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	return map[string][]byte{"index.html": html, "worker.js": worker}, nil
}

// shell is the page before it is filled in.
type shell struct{ html, script, style string }

func newShell() (s shell, err error) {
	dir, err := modules()
	if err != nil {
		return s, err
	}
	if s.script, err = page.Bundle(dir, "start.js"); err != nil {
		return s, err
	}
	for _, part := range []struct {
		name string
		to   *string
	}{{"style.css", &s.style}, {"play.css", &s.style}, {"play.html", &s.html}} {
		text, err := fs.ReadFile(dir, part.name)
		if err != nil {
			return s, fmt.Errorf("web: %w", err)
		}
		*part.to += string(text)
	}
	return s, nil
}

// modules returns the modules of this page and those of package page, which it shares.
func modules() (fs.FS, error) {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return nil, err
	}
	shared, err := page.Modules()
	return both{own, shared}, err
}

// both is two folders as one: a file is looked for in the first, then in the second.
type both [2]fs.FS

// Open opens a file of either folder.
func (b both) Open(name string) (fs.File, error) {
	f, err := b[0].Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b[1].Open(name)
	}
	return f, err
}
