//go:build unix

package main_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/test/worlds/sim"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// handOver returns a directory with the logs of two participants, the second of which followed
// the first, and another file.
func handOver(t *testing.T) string {
	t.Helper()
	dir, srv := t.TempDir(), zkmem.Start(t)
	first := elect(t, srv, "echo first; read line", "--record", filepath.Join(dir, "one.log"), "--id", "one")
	first.Prints("first")
	second := elect(t, srv, "exit 0", "--record", filepath.Join(dir, "two.log"), "--id", "two")
	inLine(t, srv, line, 2)
	node, _ := owner(t, srv, line)
	// Both watch it: the second has seen who is ahead.
	err := srv.WaitFor(within(t), func(v *zkmem.View) bool { return v.Watches(zkmem.DataWatch, node) == 2 })
	if err != nil {
		t.Fatal(err)
	}
	first.In.Close()
	first.Exits(1)
	second.Exits(0)
	writeFile(t, filepath.Join(dir, "notes.txt"), []byte("not a log"))
	return dir
}

func writeFile(t *testing.T, file string, b []byte) {
	t.Helper()
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestWhy(t *testing.T) {
	dir := handOver(t)
	one, two := filepath.Join(dir, "one.log"), filepath.Join(dir, "two.log")
	p := start(t, nil, "why", dir).Exits(0)
	programtest.Contains(t, p.Out.String(), "Never two with the right at once: proven", "one (token ", "was closed",
		"two leads from ", "[two:", line+": ")
	if n := strings.Count(p.Out.String(), "\n"); n > 24 {
		t.Errorf("%d lines", n)
	}
	programtest.Contains(t, start(t, nil, "why", one, two, "--full").Exits(0).Out.String(),
		"reply.create [made]", "    two:")

	o := start(t, nil, "why", dir, "--json").Exits(0).Objects()
	if o[0]["type"] != "verdict" || o[0]["verdict"] != "never, proven" {
		t.Errorf("%v", o[0])
	}
	var types []string
	for _, f := range start(t, nil, "why", dir, "--facts").Exits(0).Objects() {
		if kind := f["type"].(string); !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	if want := []string{"term", "node", "session", "verdict", "work-verdict", "summary", "move", "work", "doubt",
		"proof"}; !slices.Equal(types, want) {
		t.Errorf("%q, want %q", types, want)
	}

	// One log is missing: it may have led.
	programtest.Contains(t, start(t, nil, "why", two).Exits(5).Out.String(), "Cannot tell",
		"its client's log is not here")
	// A term, a line and a time are chosen; the nearest move is shown if none is of that minute.
	token := regexp.MustCompile(`one \(token (\d+)\)`).FindStringSubmatch(p.Out.String())[1]
	p = start(t, nil, "why", dir, "--token", token, "--around", "2001-01-01T00:00").Exits(64)
	programtest.Contains(t, p.Err.String(), "--around 2001-01-01T00:00 is outside the logs: they are from ")
	programtest.Contains(t, start(t, nil, "why", dir, "--path", "/other").Exits(5).Out.String(), "no term")
	programtest.Contains(t,
		start(t, nil, "why", dir, "--since", "2001-01-01 00:00:00", "--until", "2001-01-02T00:00:00Z").Exits(5).
			Out.String(), "no term")
}

func TestWhyHidesNames(t *testing.T) {
	dir := handOver(t)
	p := start(t, nil, "why", dir, "--redact", "--path", line, "--facts").Exits(0)
	for _, secret := range []string{"jobs", "127.0.0.1", `"one"`, `"two"`, dir} {
		if strings.Contains(p.Out.String(), secret) {
			t.Errorf("%q is in\n%s", secret, p.Out.String())
		}
	}
	programtest.Contains(t, p.Out.String(), "participant1", "participant2", "log1", "/name1/name2")
}

func TestWhyReadsGzipAndWritesTraces(t *testing.T) {
	dir := handOver(t)
	plain, err := os.ReadFile(filepath.Join(dir, "one.log"))
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(plain)
	z.Close()
	writeFile(t, filepath.Join(dir, "one.log"), zipped.Bytes())
	trace := filepath.Join(dir, "trace.json")
	start(t, nil, "why", dir, "--trace", trace).Exits(0)
	b, err := os.ReadFile(trace)
	var got struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	if err != nil || json.Unmarshal(b, &got) != nil || len(got.TraceEvents) < 10 {
		t.Errorf("%v\n%s", err, b)
	}
}

// A client that does not see the others in its line leads at the same time as they do.
func TestWhyFindsTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	for _, p := range sim.Plants() {
		if p.Name != "every participant is first" {
			continue
		}
		for i, log := range sim.Run(3, sim.Options{Plant: &p, Keep: true}).Logs {
			var b bytes.Buffer
			if err := sim.WriteLog(&b, log); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(dir, string(rune('a'+i))+".log"), b.Bytes())
		}
	}
	programtest.Contains(t, start(t, nil, "why", dir).Exits(4).Out.String(), "TWO AT ONCE",
		"both had the right to believe")
}
