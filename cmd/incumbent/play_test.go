//go:build unix

package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/cmd/internal/programtest"
	"github.com/incumbent-go/incumbent/internal/play"
	"github.com/incumbent-go/incumbent/test/kit/selection"
)

// playing starts play, and returns its address, which ends with a slash.
func playing(t *testing.T, args ...string) (p *programtest.Program, address string) {
	t.Helper()
	p = start(t, nil, append([]string{"play"}, args...)...)
	p.Prints("http://127.0.0.1:")
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return p, strings.TrimSpace(p.Out.String())
}

// said asks, and returns the answer.
func said(t *testing.T, r *http.Request) (status int, body string, header http.Header) {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b), res.Header
}

func request(t *testing.T, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// What is played over HTTP is what is played here, byte for byte.
func TestPlay(t *testing.T) {
	p, address := playing(t)
	if status, body, header := said(t, request(t, "GET", address, "")); status != 200 ||
		!strings.Contains(body, "<!doctype html>") || header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%d %.300s %v", status, body, header)
	}
	catalogue, err := json.Marshal(play.NewCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	if status, body, _ := said(t, request(t, "GET", address+"catalogue", "")); status != 200 ||
		body != string(catalogue) {
		t.Errorf("%d %.300s", status, body)
	}
	host := new(play.Host)
	var links []string
	for _, l := range play.Lessons() {
		links = append(links, l.Link)
	}
	for seed := range int64(selection.Of(t, "random scripts", 3, 5, 20)) {
		links = append(links, play.Random(seed).Link())
	}
	for _, link := range links {
		q, err := json.Marshal(play.Request{Link: link})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := host.AskJSON(q)
		if status, body, _ := said(t, request(t, "POST", address+"ask", string(q))); status != 200 ||
			body != string(want) {
			t.Errorf("%s: %d\n%.300s\nwant\n%.300s", link, status, body, want)
		}
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

func TestPlayRefuses(t *testing.T) {
	p, address := playing(t)
	const good = `{"link":"1;latch;usual;3;7@1"}`
	other := strings.Replace(address, "/"+strings.Split(address, "/")[3], "/0123456789abcdef0123456789abcdef", 1)
	for name, c := range map[string]struct {
		r      *http.Request
		status int
		says   string
	}{
		"another token": {request(t, "POST", other+"ask", good), 404, "has a token"},
		"another path":  {request(t, "GET", address+"events", ""), 404, "has a token"},
		"another host": {request(t, "POST", address+"ask", good, "Host", "evil.example"), 403,
			"not asked under the name"},
		"another origin": {request(t, "POST", address+"ask", good, "Origin", "http://evil.example"), 403,
			"another site"},
		"another site": {request(t, "POST", address+"ask", good, "Sec-Fetch-Site", "cross-site"), 403,
			"another site"},
		"a world by GET": {request(t, "GET", address+"ask", ""), 405, "with POST"},
		"a page by POST": {request(t, "POST", address, good), 405, "want GET"},
		"a form": {request(t, "POST", address+"ask", good, "Content-Type", "text/plain"), 415,
			"application/json"},
		"a megabyte": {request(t, "POST", address+"ask", `{"link":"`+strings.Repeat("x", 1<<20)+`"}`), 413,
			"64 KiB"},
		"a billion": {request(t, "POST", address+"ask", `{"link":"1;latch;usual;1000000000;7"}`), 400,
			`"error":"play: participants`},
		"what is no JSON": {request(t, "POST", address+"ask", `NaN`), 400, `"error":"play: a request`},
		"the same, as expected": {request(t, "POST", address+"ask", good, "Origin",
			strings.TrimSuffix(address[:strings.LastIndex(address[:len(address)-1], "/")], "/")), 200, `"digest"`},
	} {
		if status, body, _ := said(t, c.r); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d %.300s, want %d %q", name, status, body, c.status, c.says)
		}
	}
	p.Signal(syscall.SIGTERM)
	p.Exits(0)
}

func TestPlayTakesALink(t *testing.T) {
	for arg, want := range map[string]string{
		"deaf-leader":                        "/#1;latch;",
		"#1;latch;usual;3;7~8.50:cut:bob@30": "/#1;latch;usual;3;7~8.5:cut:bob@30",
		// a record was selected
		"1;latch;usual;3;7@30!alice%2F43":                          "/#1;latch;usual;3;7@30!alice%2F43",
		"http://127.0.0.1:7/0123456789abcdef/#1%3Blatch;usual;3;7": "/#1;latch;usual;3;7@20",
	} {
		p, address := playing(t, arg)
		if !strings.Contains(address, want) {
			t.Errorf("%s: %s, want %s", arg, address, want)
		}
		p.Signal(syscall.SIGTERM)
		p.Exits(0)
	}
	programtest.Contains(t, start(t, nil, "play", "1;shout").Exits(64).Err.String(), "want one like 1;latch;usual;3;7")
	programtest.Contains(t, start(t, nil, "play", "nope").Exits(64).Err.String(),
		`no lesson "nope": want one of cut-off-follower, deposed-leader`)
	programtest.Contains(t, start(t, nil, "play", "1").Exits(64).Err.String(),
		"a link in quotes, such as '1;latch;usual;3;7'")
	programtest.Contains(t, start(t, nil, "play", "herd", "pause").Exits(64).Err.String(),
		`play does not know what to do with "pause"`)
	programtest.Contains(t, start(t, nil, "play", "--host", "a b").Exits(64).Err.String(), "--host takes a name")
	programtest.Contains(t, start(t, nil, "play", "--listen", "192.0.2.1:8080").Exits(69).Err.String(), "--listen: ")
}

// The address that is printed is answered, also if it is listened on at all addresses.
func TestThePrintedAddressIsAnswered(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "localhost:0", ":0", "0.0.0.0:0"} {
		p := start(t, nil, "play", "--listen", listen)
		p.Prints("http://")
		if status, body, _ := said(t, request(t, "GET", strings.TrimSpace(p.Out.String())+"catalogue", "")); status !=
			200 {
			t.Errorf("--listen %s: %s is answered %d %.200s", listen, p.Out.String(), status, body)
		}
		http.DefaultClient.CloseIdleConnections()
		p.Signal(syscall.SIGTERM)
		p.Exits(0)
	}
	for _, listen := range []string{"127.0.0.1:99999", "127.0.0.1:nope", "[fe80::1%lo]:0", "a b:0", "ü:0", ""} {
		programtest.Contains(t, start(t, nil, "play", "--listen", listen).Exits(64).Err.String(),
			"--listen takes an address, such as 127.0.0.1:8080")
	}
	for _, host := range []string{"é.example", "ops?x", "[::1", "a%41"} {
		programtest.Contains(t, start(t, nil, "play", "--host", host).Exits(64).Err.String(),
			"--host takes a name without a port")
	}
}
