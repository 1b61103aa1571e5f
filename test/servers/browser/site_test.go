package browser

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/play"
)

// held keeps the program for WebAssembly back until it is let go.
func held(letGo <-chan struct{}) around {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/world.wasm" {
				select {
				case <-letGo:
				case <-r.Context().Done():
					return
				}
			}
			h.ServeHTTP(w, r)
		})
	}
}

// without answers that a file is not there.
func without(path string) around {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				http.NotFound(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
}

const starting = `document.querySelector('#answer').textContent.startsWith('The machines are starting')`

// While the machines start, the static site shows the first world and the lessons: the cursor moves, and a deed waits.
func TestTheSiteBeforeItsMachinesRun(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, dir := chromium(t), siteFiles(t)
	letGo := make(chan struct{})
	address := site(t, dir, held(letGo))
	p := open(t, browser, address).shown()
	p.waits(starting)
	p.scrub(8.5)
	if at := p.text(`document.querySelector('#clock').textContent`); at != "8.500" ||
		value[int](p, `document.querySelectorAll('#lanes .right').length`) == 0 {
		t.Errorf("the cursor is at %s", at)
	}
	p.does(`document.querySelector('[data-lesson=cut-off-follower] button').click()`)
	p.waits(`document.querySelectorAll('#above .ghost').length > 0`)
	lesson := play.Lessons()[0].Link
	want, err := new(play.Host).Ask(play.Request{Link: lesson})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.text(`document.body.dataset.digest`); got != want.Digest {
		t.Errorf("the lesson has the digest %s, want %s", got, want.Digest)
	}
	p.does(`document.querySelector('#verbs [data-verb=kill]').click()`)
	p.waits(`document.querySelector('#world-state').textContent === '…'`)
	if value[bool](p, `document.body.dataset.deeds !== undefined`) {
		t.Error("the machines run without their program")
	}
	close(letGo)
	p.waits(`document.querySelectorAll('#deeds li').length === 2 && ` +
		`document.querySelector('#answer').className === 'done'`)
	if said := p.text(`document.querySelector('#answer').textContent`); !strings.Contains(said,
		"alice's process is gone") {
		t.Error(said)
	}
	p.quiet(address)
}

// A site whose program is missing can be looked at, and says why it cannot be played.
func TestTheSiteWithoutItsProgram(t *testing.T) {
	if !shows(t) {
		return
	}
	browser, dir := chromium(t), siteFiles(t)
	const trouble = `document.querySelector('#trouble').textContent`
	p := open(t, browser, site(t, dir, without("/world.wasm"))).shown()
	p.waits(trouble + `.includes('can only be looked at: Error: world.wasm: 404')`)
	p.does(`document.querySelector('#verbs button').click()`)
	p.waits(trouble + `.startsWith('Refused: Error: world.wasm: 404')`)
	if n := value[int](p, `document.querySelectorAll('#lanes .right').length`); n == 0 {
		t.Error("nothing is shown")
	}
	if missing := p.forgive("404"); missing == 0 {
		t.Error("the browser missed nothing")
	}
	p.quiet("http://127.0.0.1")

	p = open(t, browser, site(t, dir, without("/catalogue.json")))
	p.waits(`document.querySelector('#verdict').textContent === 'The playground cannot begin: catalogue.json: ` +
		`404 Not Found'`)
}

// What may be shown next to a lesson may fail: the page says so, and goes on.
func TestACounterpartThatCannotBeShown(t *testing.T) {
	if !shows(t) {
		return
	}
	refusing := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || strings.Contains(string(body), "bug=reads-confirm") {
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		})
	}
	address := playServer(t, refusing)
	lesson := play.Lessons()[0]
	counterpart := play.Lessons()[slices.IndexFunc(play.Lessons(), func(l play.Lesson) bool {
		return strings.Contains(l.Link, "bug=reads-confirm")
	})]
	p := playing(t, chromium(t), address, lesson.Link)
	want := "“" + counterpart.Title + "” cannot be shown next to it: not now"
	if said := p.text(`document.querySelector('#trouble').textContent`); said != want {
		t.Errorf("the page says %q, want %q", said, want)
	}
	p.pressed("k")
	p.waits(`document.querySelectorAll('#deeds li').length === 2`)
	if refused := p.forgive("status of 503"); refused != 1 {
		t.Errorf("%d requests were refused", refused)
	}
	p.quiet(address)
}
