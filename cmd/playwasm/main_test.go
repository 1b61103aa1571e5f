//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/test/kit/realzk"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scripts is how many random scripts are played: make play-scripts plays more.
var scripts = flag.Int("scripts", 0, "play so many random scripts")

// asker is a program for node: it runs the wasm program, and answers each request of a list.
const asker = `
const fs = require('fs'), [dir, asked, said] = process.argv.slice(2);
require(dir + '/wasm_exec.js');
const go = new Go();
globalThis.playReady = () => {
  const answers = JSON.parse(fs.readFileSync(asked, 'utf8')).map(q => globalThis.play.ask(q));
  fs.writeFileSync(said, JSON.stringify({ answers, wrong: globalThis.play.ask(7) }));
  process.exit(0);
};
WebAssembly.instantiate(fs.readFileSync(dir + '/world.wasm'), go.importObject).then(r => go.run(r.instance));
`

// site writes the site, and returns its folder: what runs the program is in it.
func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "run", "../gensite", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "asker.cjs"), []byte(asker), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "world.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("world.wasm has %d bytes", info.Size())
	return dir
}

// In a browser's machine every world is the same as natively: the whole answer is, byte for byte.
func TestWebAssemblyPlaysTheSameWorlds(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		realzk.NotRun(t, "the playground in WebAssembly (no node)")
	}
	if runtime.GOOS == "windows" {
		realzk.NotRun(t, "the playground in WebAssembly (on Windows)")
	}
	n := *scripts
	if n == 0 {
		n = selection.Of(t, "random scripts", 3, 5, 15)
	}
	var requests []string
	for _, l := range play.Lessons() {
		requests = append(requests, request(t, play.Request{Link: l.Link}))
	}
	for seed := range int64(n) {
		requests = append(requests, request(t, play.Request{Link: play.Random(seed).Link(), Steps: int(seed % 3)}))
	}
	requests = append(requests, `{"link":"1;latch;usual;1000000000;7"}`)
	dir := site(t)
	asked, said := filepath.Join(dir, "asked.json"), filepath.Join(dir, "said.json")
	b, err := json.Marshal(requests)
	if err == nil {
		err = os.WriteFile(asked, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), node, filepath.Join(dir, "asker.cjs"), dir, asked, said).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		Answers []string
		Wrong   string
	}
	if b, err = os.ReadFile(said); err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || len(got.Answers) != len(requests) {
		t.Fatalf("%v, %d answers of %d", err, len(got.Answers), len(requests))
	}
	host := new(play.Host)
	for i, q := range requests {
		if want, _ := host.AskJSON([]byte(q)); !bytes.Equal(want, []byte(got.Answers[i])) {
			t.Errorf("%s: in WebAssembly\n%.300s\nnatively\n%.300s", q, got.Answers[i], want)
		}
	}
	if !strings.Contains(got.Wrong, "want one text") {
		t.Error("a request that is no text: ", got.Wrong)
	}
}

func request(t *testing.T, q play.Request) string {
	t.Helper()
	b, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
