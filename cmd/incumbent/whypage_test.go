//go:build unix

package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestWhyWritesAPage(t *testing.T) {
	dir := handOver(t)
	file := filepath.Join(t.TempDir(), "why.html")
	p := start(t, nil, "why", dir, "--html", file).Exits(0)
	programtest.Contains(t, p.Out.String(), "Never two with the right at once: proven")
	programtest.Contains(t, p.Err.String(), "the page is ")
	b, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(b, []byte("<!doctype html>")) ||
		!bytes.Contains(b, []byte("default-src 'none'")) {
		t.Errorf("%v\n%.300s", err, b)
	}
	// Names are hidden in the page, too: it has other data then, and less.
	hidden := filepath.Join(t.TempDir(), "hidden.html")
	start(t, nil, "why", dir, "--html", hidden, "--redact").Exits(0)
	if h, err := os.ReadFile(hidden); err != nil || len(h) >= len(b) {
		t.Errorf("%d bytes with names, %d without, %v", len(b), len(h), err)
	}
	nowhere := filepath.Join(t.TempDir(), "missing", "why.html")
	if said := start(t, nil, "why", dir, "--html", nowhere).Exits(73).Err.String(); !strings.Contains(said,
		"--html: ") {
		t.Error(said)
	}
}

// A log is not overwritten by a page, whether it is explained, or the file's name was forgotten before it.
func TestAPageOverwritesNoLog(t *testing.T) {
	dir := handOver(t)
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) < 2 {
		t.Fatal(logs, err)
	}
	txns := filepath.Join(t.TempDir(), "log.1")
	if err := os.WriteFile(txns, []byte("ZKLG\x00\x00\x00\x02"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--html", logs[0], logs[1]}, {"--trace", logs[0], dir},
		{logs[0], "--html", filepath.Join(dir, ".", "..", filepath.Base(dir), filepath.Base(logs[0]))},
		{dir, "--html", txns}} {
		said := start(t, nil, append([]string{"why"}, args...)...).Exits(73).Err.String()
		programtest.Contains(t, said, "is a log, and would be overwritten: want another file")
	}
	if b, err := os.ReadFile(logs[0]); err != nil || bytes.HasPrefix(b, []byte("<!doctype")) {
		t.Errorf("%v %.100s", err, b)
	}
	programtest.Contains(t, start(t, nil, "why", dir, "--html", "").Exits(64).Err.String(),
		"--html is empty: want the file to write")
	page := filepath.Join(t.TempDir(), "page")
	programtest.Contains(t, start(t, nil, "why", dir, "--html", page, "--trace", page).Exits(64).Err.String(),
		"name the same file")
	for range 2 { // a page is written again
		start(t, nil, "why", dir, "--html", page).Exits(0)
	}
}
