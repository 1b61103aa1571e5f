package browser

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/play"
	"github.com/incumbent-go/incumbent/play/web"
	"github.com/incumbent-go/incumbent/test/realzk"
	"github.com/incumbent-go/incumbent/test/selection"
)

// playServer serves the playground with its worlds, and returns its address.
func playServer(t *testing.T) string {
	t.Helper()
	html, err := web.HTML(web.Server)
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := json.Marshal(play.NewCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var host play.Host
	mux := http.NewServeMux()
	mux.HandleFunc("GET /play/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(html) })
	mux.HandleFunc("GET /play/catalogue", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(catalogue) })
	mux.HandleFunc("POST /play/ask", func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		answer, ok := host.AskJSON(asked)
		if !ok {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write(answer)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/play/"
}

// site builds the static site and serves its files. It returns the address.
func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, err := web.Site()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(dir, "world.wasm"), "github.com/incumbent-go/incumbent/cmd/playwasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	support := filepath.Join(string(root[:len(root)-1]), "lib", "wasm", "wasm_exec.js")
	if files["wasm_exec.js"], err = os.ReadFile(support); err != nil {
		realzk.NotRun(t, "the site in a browser (no wasm_exec.js in this Go)")
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// playing opens a link of the playground, and waits until its world is shown.
func playing(t *testing.T, browser context.Context, address, link string) *tab {
	t.Helper()
	return open(t, browser, address+"#"+link).shown()
}

// idle waits until the page asks for nothing.
func (p *tab) idle() {
	p.t.Helper()
	p.waits(`document.querySelector('#world-state').textContent !== '…'`)
}

// slow reports whether this run has time for worlds that take the browser long. make quick has not, nor has the race detector: the other
// tests of the playground have the same goroutines.
func slow(t *testing.T) bool {
	t.Helper()
	return selection.Of(t, "long worlds in a browser", 0, 1, 1) == 1
}
