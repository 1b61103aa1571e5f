//go:build unix

package main_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
)

func TestCharts(t *testing.T) {
	listed := start(t, nil, "chart").Exits(0).Out.String()
	objects := start(t, nil, "chart", "--json").Exits(0).Objects()
	for i, o := range objects[:min(4, len(objects))] { // docs/statecharts has them all
		name := o["chart"].(string)
		programtest.Contains(t, listed, name)
		for format, shape := range map[string]string{"md": "| ", "mermaid": "stateDiagram", "dot": "digraph",
			"xstate": `"initial": "`, "svg": "<svg", "table": "  event "} {
			out := start(t, nil, "chart", name, "--format", format).Exits(0).Out.String()
			programtest.Contains(t, out, shape)
			if format == "svg" {
				wellFormed(t, out)
			}
			if i > 0 {
				continue
			}
			file := filepath.Join(t.TempDir(), "picture")
			start(t, nil, "chart", name, "--format", format, "-o", file).Exits(0)
			if b, err := os.ReadFile(file); err != nil || string(b) != out {
				t.Errorf("-o wrote something else: %v", err)
			}
		}
	}
	if len(objects) < 3 {
		t.Errorf("%d charts", len(objects))
	}
	start(t, nil, "chart", "latch", "-o", "/no/such/folder/x").Exits(73)
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
