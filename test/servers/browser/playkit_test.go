package browser

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/incumbent-go/incumbent/internal/page/live"
	"github.com/incumbent-go/incumbent/internal/play/server"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// around is a handler around another one: it may answer some requests itself.
type around func(http.Handler) http.Handler

// served serves what a handler answers, and returns its address.
func served(t *testing.T, h http.Handler, more []around) string {
	t.Helper()
	for _, wrap := range more {
		h = wrap(h)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// playServer serves the playground with its worlds, and returns its address.
func playServer(t *testing.T, more ...around) string {
	t.Helper()
	access := live.Access{Token: live.NewToken()}
	h, err := server.Handler(access)
	if err != nil {
		t.Fatal(err)
	}
	return served(t, h, more) + access.Token + "/"
}

// siteFiles writes the static site, and returns its folder. It is built in the module of the program: the tests there
// have compiled it.
func siteFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	gen := exec.CommandContext(t.Context(), "go", "run", "./cmd/gensite", dir)
	gen.Dir = filepath.Join("..", "..", "..")
	if out, err := gen.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// site serves the files of a static site, and returns its address.
func site(t *testing.T, dir string, more ...around) string {
	t.Helper()
	return served(t, http.FileServer(http.Dir(dir)), more)
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

// shows reports whether this run shows pages in a browser. Only make prove has time for that. The race detector finds
// nothing in a browser, and the handlers' own tests have the same goroutines.
func shows(t *testing.T) bool {
	t.Helper()
	return selection.Of(t, "pages in a browser", 0, 0, 1) == 1
}
