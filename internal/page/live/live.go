package live

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/incumbent-go/incumbent/internal/page"
)

// Options say who is answered. Token is required.
type Options struct {
	// Token is the first part of the address: the page is at /TOKEN/. It has 16 to 128 letters, digits, "-" and "_".
	// NewToken makes one.
	Token string
	// Hosts are the names under which a browser may ask for the page, without a port: "ops.example.com". Names and
	// addresses of the loopback interface always may.
	Hosts []string
	// Poll is how often the directory is looked at: by default every 500 ms. It is looked at less often if reading
	// its logs takes longer than a fifth of that.
	Poll time.Duration
	// MaxRecords is how many records all logs of the directory may have: by default 300,000. With more, the page
	// says so and shows none. They may have 1 KiB for each of these, but 1 MiB at least, and 16 KiB for each file.
	MaxRecords int
}

const (
	maxStreams  = 16          // how many pages may be open at once, and how many may be loaded
	pageTimeout = time.Minute // in which a page has to be loaded
)

// Handler returns a handler of GET /TOKEN/, the page, and GET /TOKEN/events, which is what the page reads while it is
// open. Mount it with http.StripPrefix under another path. The error says which option is wrong, or that there is no
// such directory.
//
//   - Another token is 404, another method 405.
//   - A Host that is neither loopback nor in Options.Hosts is 403: another site's name that leads here is refused.
//   - So is an Origin that is not the Host, and a stream that another site asks for.
//   - A seventeenth open page is 503, and so is one that is loaded while sixteen are.
//
// A log that is damaged is shown up to there, one without a header is left out, and the page says so. Only regular
// files are read, no links; the page names the files that are not read, and says why.
func Handler(dir string, o Options) (http.Handler, error) {
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("live: " + dir + " is no directory: want the one that clients record their logs in")
	case o.Poll < 0 || o.MaxRecords < 0:
		return nil, errors.New("live: Options.Poll and Options.MaxRecords must not be below zero")
	}
	access := Access{o.Token, o.Hosts}
	if err := access.Check(); err != nil {
		return nil, err
	}
	if o.Poll == 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = 300_000
	}
	return &server{options: o, access: access, logs: &directory{path: dir, maxRecords: o.MaxRecords},
		streams: make(chan struct{}, maxStreams), pages: make(chan struct{}, maxStreams)}, nil
}

type server struct {
	options Options
	access  Access
	logs    *directory
	streams chan struct{} // one for each open stream
	pages   chan struct{} // one for each page that is being sent
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rest, admitted := s.access.Admit(w, r, "events")
	switch {
	case !admitted:
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this page is only read: want GET", http.StatusMethodNotAllowed)
	case rest == "events":
		s.stream(w, r)
	case !s.enter(w, s.pages):
	default:
		defer func() { <-s.pages }()
		s.page(w)
	}
}

// enter takes a slot for a page, or answers that there is none.
func (s *server) enter(w http.ResponseWriter, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	default:
		http.Error(w, fmt.Sprintf("%d pages are open: close one", maxStreams), http.StatusServiceUnavailable)
		return false
	}
}

// page serves the page with what is recorded so far.
func (s *server) page(w http.ResponseWriter) {
	e, err := s.logs.document(nil, 0)
	var html []byte
	if err == nil {
		html, err = page.HTML(e.doc, page.Live)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Del("Content-Security-Policy") // the page has its own
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(html)
}
