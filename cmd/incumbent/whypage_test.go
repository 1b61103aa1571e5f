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
	programtest.Contains(t, p.Out.String(), "Never two at once: proven")
	programtest.Contains(t, p.Err.String(), "the page is ")
	b, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(b, []byte("<!doctype html>")) || !bytes.Contains(b, []byte("default-src 'none'")) {
		t.Errorf("%v\n%.300s", err, b)
	}
	// Names are hidden in the page, too: it has other data then, and less.
	hidden := filepath.Join(t.TempDir(), "hidden.html")
	start(t, nil, "why", dir, "--html", hidden, "--redact").Exits(0)
	if h, err := os.ReadFile(hidden); err != nil || len(h) >= len(b) {
		t.Errorf("%d bytes with names, %d without, %v", len(b), len(h), err)
	}
	nowhere := filepath.Join(t.TempDir(), "missing", "why.html")
	if said := start(t, nil, "why", dir, "--html", nowhere).Exits(73).Err.String(); !strings.Contains(said, "--html: ") {
		t.Error(said)
	}
}
