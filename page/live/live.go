package live

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/page"
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

// NewToken returns a token that nobody can guess.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

var tokens = regexp.MustCompile(`^[A-Za-z0-9_-]{16,128}$`)

// hostNames are names, and addresses of both kinds.
var hostNames = regexp.MustCompile(`^[A-Za-z0-9._-]+$|^\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*\]?$`)

// Handler returns a handler of GET /TOKEN/, the page, and GET /TOKEN/events, which is what the page reads while it is
// open. Mount it with http.StripPrefix under another path. The error says which option is wrong, or that there is no such
// directory.
//
//   - Another token is 404, another method 405.
//   - A Host that is neither loopback nor in Options.Hosts is 403: another site's name that leads here is refused.
//   - So is an Origin that is not the Host, and a stream that another site asks for.
//   - A seventeenth open page is 503, and so is one that is loaded while sixteen are.
//
// A log that is damaged is shown up to there, one without a header is left out, and the page says so. Only regular files
// are read, no links; the page names the files that are not read, and says why.
func Handler(dir string, o Options) (http.Handler, error) {
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, errors.New("live: " + dir + " is no directory: want the one that clients record their logs in")
	case !tokens.MatchString(o.Token):
		return nil, errors.New("live: Options.Token needs 16 to 128 letters, digits, - and _: NewToken makes one")
	case slices.ContainsFunc(o.Hosts, func(h string) bool { return !hostNames.MatchString(h) }):
		return nil, fmt.Errorf("live: Options.Hosts are names or addresses without a port, such as ops.example.com, not %q", o.Hosts)
	case o.Poll < 0 || o.MaxRecords < 0:
		return nil, errors.New("live: Options.Poll and Options.MaxRecords must not be below zero")
	}
	if o.Poll == 0 {
		o.Poll = 500 * time.Millisecond
	}
	if o.MaxRecords == 0 {
		o.MaxRecords = 300_000
	}
	return &server{options: o, logs: &directory{path: dir, maxRecords: o.MaxRecords}, streams: make(chan struct{}, maxStreams), pages: make(chan struct{}, maxStreams)}, nil
}

type server struct {
	options Options
	logs    *directory
	streams chan struct{} // one for each open stream
	pages   chan struct{} // one for each page that is being sent
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Not every writer has one. A stream sets another for each message.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(pageTimeout))
	for name, value := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	} {
		w.Header().Set(name, value)
	}
	if !s.expected(r.Host) {
		http.Error(w, "this server is not asked under the name "+cut(r.Host)+": loopback names and those of Options.Hosts are answered", http.StatusForbidden)
		return
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		http.Error(w, "another site may not ask: "+cut(origin), http.StatusForbidden)
		return
	}
	token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(token), []byte(s.options.Token)) != 1 || found && rest != "" && rest != "events" {
		http.Error(w, "not found: the address has a token, which was printed when the server began", http.StatusNotFound)
		return
	}
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this page is only read: want GET", http.StatusMethodNotAllowed)
	case !found:
		w.Header().Set("Location", token+"/") // http.Redirect would not know what http.StripPrefix has cut off
		w.WriteHeader(http.StatusMovedPermanently)
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

// cut returns the beginning of a foreign text, for an error.
func cut(text string) string {
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return "\"" + strings.ToValidUTF8(text, "?") + "\""
}

// expected reports whether a browser may ask under this name. A name that merely leads to a loopback address, as in DNS
// rebinding, is not expected.
func (s *server) expected(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if addr, err := netip.ParseAddr(name); err == nil && addr.IsLoopback() || name == "localhost" {
		return true
	}
	for _, h := range s.options.Hosts {
		if name == strings.ToLower(strings.Trim(h, "[]")) {
			return true
		}
	}
	return false
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, host)
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
