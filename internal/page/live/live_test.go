package live

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/page"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const token = "0123456789abcdef"

// recorded returns a client whose log is written to a directory, and the directory.
func recorded(t *testing.T) (*incumbent.Client, string) {
	t.Helper()
	dir := t.TempDir()
	c, err := incumbent.Open(t.Context(),
		incumbent.Config{Servers: zkmem.Start(t).Addr(), Record: incumbent.RecordIn(dir, incumbent.RecordOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c, dir
}

// leads has a participant lead, and resign.
func leads(t *testing.T, c *incumbent.Client, line string) {
	t.Helper()
	l, err := c.Latch(line, incumbent.LatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	leadership, err := l.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	leadership.Release()
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func handler(t *testing.T, dir string, o Options) http.Handler {
	t.Helper()
	o.Token, o.Poll = token, 10*time.Millisecond
	h, err := Handler(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// stranger is one request that may be refused.
type stranger struct {
	method, target, host string
	headers              map[string]string
	code                 int
}

func TestWhoIsAnswered(t *testing.T) {
	h := handler(t, t.TempDir(), Options{Hosts: []string{"ops.example.com", "[fd00:0::7]"}})
	at := "/" + token + "/"
	for _, s := range []stranger{
		{"GET", at, "127.0.0.1:8080", nil, 200},
		{"HEAD", at, "localhost:8080", nil, 200},
		{"GET", at, "[::1]:8080", nil, 200},
		{"GET", at, "127.9.9.9", nil, 200},
		{"GET", at, "OPS.example.com:443", nil, 200},
		{"GET", at, "[fd00::7]:8080", nil, 200}, // a browser writes addresses in one way
		{"GET", at, "[fd00::8]:8080", nil, 403},
		{"GET", "/" + token, "localhost", nil, 301},
		{"GET", at, "evil.example", nil, 403}, // its name leads to 127.0.0.1
		{"GET", at, "localhost.evil.example:8080", nil, 403},
		{"GET", at, "127.0.0.1.evil.example", nil, 403},
		{"GET", at, "192.0.2.7:8080", nil, 403},
		{"GET", at, "", nil, 403},
		{"GET", at, "localhost", map[string]string{"Origin": "http://evil.example"}, 403},
		{"GET", at, "localhost", map[string]string{"Origin": "null"}, 403},
		{"GET", at, "localhost", map[string]string{"Origin": "http://\u202eevil.example\u0007"}, 403},
		{"GET", at, "localhost:8080", map[string]string{"Origin": "http://localhost:8081"}, 403},
		{"GET", at, "localhost:8080", map[string]string{"Origin": "http://localhost:8080"}, 200},
		{"HEAD", at + "events", "localhost", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"HEAD", at + "events", "localhost", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		{"HEAD", at + "events?have=x", "localhost", nil, 400},
		{"HEAD", at + "events?have=x.-1", "localhost", nil, 400},
		{"HEAD", at + "events?have=%25zz.1", "localhost", nil, 400},
		{"GET", "/", "localhost", nil, 404},
		{"GET", "/" + token[:15] + "/", "localhost", nil, 404},
		{"GET", "/" + token + "x/", "localhost", nil, 404},
		{"GET", at + "../etc/passwd", "localhost", nil, 404},
		{"GET", at + "events/", "localhost", nil, 404},
		{"POST", at, "localhost", nil, 405},
		{"DELETE", at + "events", "localhost", nil, 405},
	} {
		r := httptest.NewRequest(s.method, s.target, nil)
		r.Host = s.host
		for name, value := range s.headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != s.code {
			t.Errorf("%s %s at %q with %v: %d %s, want %d", s.method, s.target, s.host, s.headers,
				w.Code, w.Body, s.code)
		}
		if s.code >= 400 && strings.ContainsAny(w.Body.String(), "<\u202e\u0007") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%v %s", w.Header(), w.Body)
		}
	}
}

func TestHandlerRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for says, call := range map[string]func() (http.Handler, error){
		"no such file": func() (http.Handler, error) {
			return Handler(filepath.Join(file, "..", "missing"), Options{Token: token})
		},
		"is no directory":    func() (http.Handler, error) { return Handler(file, Options{Token: token}) },
		"NewToken makes one": func() (http.Handler, error) { return Handler(t.TempDir(), Options{}) },
		"needs 16 to 128":    func() (http.Handler, error) { return Handler(t.TempDir(), Options{Token: "short"}) },
		"must not be below": func() (http.Handler, error) {
			return Handler(t.TempDir(), Options{Token: token, Poll: -1})
		},
		"MaxRecords must not b": func() (http.Handler, error) {
			return Handler(t.TempDir(), Options{Token: token, MaxRecords: -1})
		},
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if a, b := NewToken(), NewToken(); a == b || !tokens.MatchString(a) {
		t.Error(a, b)
	}
}

// reader reads the events of a stream.
type reader struct {
	t  *testing.T
	in *bufio.Reader
	id string
}

// listen opens a stream at a server.
func listen(t *testing.T, url, last string) *reader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Last-Event-ID", last)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%v, %v", res, err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &reader{t: t, in: bufio.NewReader(res.Body)}
}

// next returns the next event.
func (r *reader) next() (name, data string) {
	r.t.Helper()
	for {
		line, err := r.in.ReadString('\n')
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch {
		case err != nil:
			r.t.Fatal(err)
		case field == "id":
			r.id = value
		case field == "event":
			name = value
		case field == "data":
			data = value
		case line == "\n" && name != "":
			return name, data
		}
	}
}

// document returns the next document, and how many records are new in it.
func (r *reader) document() (d page.Document, records int) {
	r.t.Helper()
	name, data := r.next()
	if err := json.Unmarshal([]byte(data), &d); err != nil || name != "document" {
		r.t.Fatalf("%s %.300s: %v", name, data, err)
	}
	for _, l := range d.Logs {
		records += len(l.Rows) / 13
	}
	return d, records
}

// What is recorded while a page is open comes to it, and nothing twice: not after the connection was interrupted
// either.
func TestAPageLives(t *testing.T) {
	c, dir := recorded(t)
	server := httptest.NewServer(handler(t, dir, Options{}))
	t.Cleanup(server.Close)
	events := server.URL + "/" + token + "/events"

	leads(t, c, "/jobs/one")
	first := listen(t, events, "")
	d, n := first.document()
	for len(d.Picture.Moves) < 2 { // the recorder writes a little later
		var more int
		d, more = first.document()
		n += more
	}
	leads(t, c, "/jobs/two")
	for len(d.Picture.Moves) < 4 {
		var more int
		d, more = first.document()
		n += more
	}
	if err := c.Close(t.Context()); err != nil { // nothing comes after that
		t.Fatal(err)
	}
	// A connection after that has what was sent so far.
	again := listen(t, events, first.id)
	_, since := again.document()
	e, err := (&directory{path: dir, maxRecords: 1000}).document(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := len(e.doc.Logs[0].Rows) / 13
	for n+since < all { // what was read a moment before Close
		_, more := again.document()
		since += more
	}
	if n+since != all || n == 0 {
		t.Errorf("%d records, then %d, of %d", n, since, all)
	}
	res, err := http.Get(server.URL + "/" + token + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if b, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(b), `name="live" content="events"`) ||
		res.Header.Get("Content-Security-Policy") != "" {
		t.Errorf("%v %v %.300s", err, res.Header, b)
	}
}

// What cannot be read is said in the page, and the page goes on when it can be.
func TestTroubleIsSaid(t *testing.T) {
	c, dir := recorded(t)
	leads(t, c, "/jobs/one")
	server := httptest.NewServer(handler(t, dir, Options{MaxRecords: 1}))
	t.Cleanup(server.Close)
	stream := listen(t, server.URL+"/"+token+"/events", "")
	name, data := stream.next()
	for name != "trouble" { // the recorder writes a little later
		name, data = stream.next()
	}
	if !strings.Contains(data, "more than 1 records") {
		t.Error(data)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if d, n := stream.document(); n != 0 || len(d.Picture.Logs) != 0 {
		t.Errorf("%d records in %v", n, d.Picture.Logs)
	}
}

func TestPagesAreBounded(t *testing.T) {
	h := handler(t, t.TempDir(), Options{})
	for range maxStreams {
		h.(*server).streams <- struct{}{}
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/"+token+"/events", nil)
	r.Host = "localhost"
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable {
		t.Error(w.Code, w.Body)
	}
}
