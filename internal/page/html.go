package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"strings"
)

// Use says where a page is opened.
type Use int

// Uses.
const (
	File Use = iota // from a disk: it may load nothing
	Live            // from a server: it may read from that server, and waits for the records to come
)

// Modules returns the page's modules, its style sheet and its shell, for another page that shares them. They may change
// in any release.
func Modules() (fs.FS, error) { return fs.Sub(assets, "assets") }

// HTML returns the page: one file with its script, its style and its data.
func HTML(d *Document, use Use) ([]byte, error) {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.DefaultCompression)
	if err == nil {
		err = d.writeJSON(z)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, err
	}
	s, err := newShell()
	if err != nil {
		return nil, err
	}
	return s.page(Policy(s.script, s.style, use), base64.StdEncoding.EncodeToString(zipped.Bytes()), use), nil
}

// shell is the page without its data.
type shell struct{ html, script, style string }

func newShell() (s shell, err error) {
	dir, err := Modules()
	if err != nil {
		return s, err
	}
	if s.script, err = Bundle(dir, "app.js"); err != nil {
		return s, err
	}
	style, err := fs.ReadFile(dir, "style.css")
	if err != nil {
		return s, err
	}
	html, err := fs.ReadFile(dir, "shell.html")
	s.style, s.html = string(style), string(html)
	return s, err
}

// page fills in the shell. What is filled in has no place for another.
func (s shell) page(policy, data string, use Use) []byte {
	live := ""
	if use == Live {
		live = "events"
	}
	return []byte(strings.NewReplacer("{{POLICY}}", policy, "{{STYLE}}", s.style, "{{SCRIPT}}", s.script, "{{DATA}}",
		data, "{{LIVE}}", live).Replace(s.html))
}

// Policy is the Content-Security-Policy of a page with this script and style: nothing else runs,
// and nothing is loaded.
func Policy(script, style string, use Use) string {
	p := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'",
		hash(script), hash(style))
	if use == Live {
		p += "; connect-src 'self'"
	}
	return p
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
