package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/internal/page/live"
	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/internal/play/web"
)

const (
	maxRequest   = 64 << 10         // bytes
	maxAsking    = 16               // requests that wait for their world, or whose answer is being read
	readTimeout  = 10 * time.Second // of one request
	writeTimeout = 30 * time.Second // of one answer
)

// playground answers the page. Its worlds are played one at a time.
type playground struct {
	access    live.Access
	html      []byte
	catalogue []byte
	asking    chan struct{}

	mu   sync.Mutex
	host play.Host
}

// Handler returns the HTTP handler of the playground: GET for the page, GET catalogue, POST ask, each under the path of
// the token. It answers only requests that who admits, and is safe for concurrent use. The error says what is wrong
// with who.
func Handler(who live.Access) (http.Handler, error) {
	if err := who.Check(); err != nil {
		return nil, err
	}
	html, err := web.HTML(web.Server)
	if err != nil {
		return nil, err
	}
	catalogue, err := json.Marshal(play.NewCatalogue())
	return &playground{access: who, html: html, catalogue: catalogue, asking: make(chan struct{}, maxAsking)}, err
}

// ServeHTTP implements http.Handler.
func (p *playground) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, admitted := p.access.Admit(w, r, "catalogue", "ask")
	if !admitted {
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); rest != "" && site != "" && site != "same-origin" && site != "none" {
		http.Error(w, "another site may not ask", http.StatusForbidden)
		return
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case rest == "ask" && r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		http.Error(w, "worlds are asked for with POST", http.StatusMethodNotAllowed)
	case rest == "ask":
		p.ask(w, r)
	case !reads:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this page is only read: want GET", http.StatusMethodNotAllowed)
	case rest == "catalogue":
		answer(w, "application/json", p.catalogue)
	default:
		w.Header().Del("Content-Security-Policy") // the page has its own
		answer(w, "text/html; charset=utf-8", p.html)
	}
}

// ask answers a request for a world.
func (p *playground) ask(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		http.Error(w, "want application/json", http.StatusUnsupportedMediaType)
		return
	}
	request, ok := read(w, r)
	if !ok {
		return
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	default:
		http.Error(w, "too many requests at once: ask again", http.StatusServiceUnavailable)
		return
	}
	said, ok := p.play(r.Context(), request)
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(said)
}

// read returns the request's body, or refuses one that is too long or too slow.
func read(w http.ResponseWriter, r *http.Request) (request []byte, ok bool) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(readTimeout)) // not every writer has one
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	_ = control.SetReadDeadline(time.Time{}) // else its end would look like the client's
	var long *http.MaxBytesError
	switch {
	case err == nil:
		return request, true
	case errors.As(err, &long):
		http.Error(w, "the request cannot be read: it may have 64 KiB", http.StatusRequestEntityTooLarge)
	default:
		http.Error(w, "the request cannot be read: want all of it within "+readTimeout.String(),
			http.StatusRequestTimeout)
	}
	return nil, false
}

// play plays a world, unless nobody waits for it any more. One is played at a time.
func (p *playground) play(ctx context.Context, request []byte) (answer []byte, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil {
		return nil, false
	}
	return p.host.AskJSON(request)
}

func answer(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(body)
}
