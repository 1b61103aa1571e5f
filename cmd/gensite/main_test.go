package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/play"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The page finds what it can show at once: what it offers, and the answers to the links of the first world and of each
// lesson.
func TestWhatThePageShowsAtOnce(t *testing.T) {
	files, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	var offered play.Catalogue
	if err := json.Unmarshal(files["catalogue.json"], &offered); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"first.json": offered.First}
	for i, link := range offered.Duel {
		links[fmt.Sprintf("duel-%d.json", i)] = link
	}
	for _, l := range offered.Lessons {
		links["lesson-"+l.ID+".json"] = l.Link
	}
	if len(links) != 3+len(play.Lessons()) || offered.First == "" {
		t.Errorf("%d worlds, the first is %q", len(links), offered.First)
	}
	for name, link := range links {
		a, err := new(play.Host).Ask(play.Request{Link: link})
		if err != nil {
			t.Fatal(err)
		}
		if want, err := json.Marshal(a); err != nil || !bytes.Equal(files[name], want) || !a.Fresh || a.Link != link {
			t.Errorf("%s is not the answer to %s: %.100s; %v", name, link, files[name], err)
		}
	}
	if _, err := world("1;shout"); err == nil || !strings.Contains(err.Error(), "want one like") {
		t.Error("a link that is none:", err)
	}
}

// The site has all files that the page and its Worker load.
func TestTheSite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{"index.html": "worker.js", "worker.js": "world.wasm",
		"wasm_exec.js": "Go", "world.wasm": "\x00asm", "first.json": `"digest"`} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), says) {
			t.Errorf("%s: %v, and it does not have %q", name, err, says)
		}
	}
	if err := write(filepath.Join(dir, "index.html")); err == nil {
		t.Error("a file is taken for a directory")
	}
}

// What is no directory's name is refused: a flag would become one.
func TestTheDirectoryIsNamed(t *testing.T) {
	for _, args := range [][]string{nil, {""}, {"--help"}, {"a", "b"}} {
		if dir, err := directory(args); err == nil ||
			!strings.Contains(err.Error(), "want one argument, the directory") {
			t.Errorf("%q: %q, %v", args, dir, err)
		}
	}
	if dir, err := directory([]string{"site"}); dir != "site" || err != nil {
		t.Error(dir, err)
	}
}
