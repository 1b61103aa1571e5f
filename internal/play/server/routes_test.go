package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent/internal/page/live"
)

// Every path has its methods and its kind of answer. What is refused is refused with a status and a reason.
func TestRoutes(t *testing.T) {
	who := live.Access{Token: live.NewToken()}
	h, err := Handler(who)
	if err != nil {
		t.Fatal(err)
	}
	const q, asJSON, form = `{"link":"1;latch;usual;3;7@1"}`, "application/json", "text/plain"
	for _, c := range []struct {
		method, path, site, kind, body string
		code                           int
		answer, said                   string // its kind, and what it has
	}{
		{"GET", "", "", "", "", 200, "text/html; charset=utf-8", "<!doctype html>"},
		{"HEAD", "", "", "", "", 200, "text/html; charset=utf-8", ""},
		{"GET", "", "cross-site", "", "", 200, "text/html; charset=utf-8", "<!doctype html>"}, // a link to the page
		{"POST", "", "", "", "", 405, "", "want GET"},
		{"GET", "catalogue", "", "", "", 200, asJSON, `"lessons"`},
		{"HEAD", "catalogue", "", "", "", 200, asJSON, ""},
		{"GET", "catalogue", "same-origin", "", "", 200, asJSON, `"lessons"`},
		{"GET", "catalogue", "none", "", "", 200, asJSON, `"lessons"`},
		{"GET", "catalogue", "cross-site", "", "", 403, "", "another site may not ask"},
		{"PUT", "catalogue", "", "", "", 405, "", "want GET"},
		{"POST", "ask", "same-origin", asJSON, q, 200, asJSON, `"document"`},
		{"POST", "ask", "", asJSON + "; charset=utf-8", q, 200, asJSON, `"document"`},
		{"POST", "ask", "same-site", asJSON, q, 403, "", "another site may not ask"},
		{"GET", "ask", "", asJSON, q, 405, "", "POST"},
		{"POST", "ask", "", form, q, 415, "", "want application/json"},
		{"POST", "ask", "", "", q, 415, "", "want application/json"},
		{"POST", "ask", "", asJSON + "; x", q, 415, "", "want application/json"},
		{"POST", "ask", "", asJSON, `{"link":"0"}`, 400, asJSON, `"error"`},
		{"POST", "ask", "", asJSON, q + strings.Repeat(" ", maxRequest-len(q)), 200, asJSON, `"document"`},
		{"POST", "ask", "", asJSON, q + strings.Repeat(" ", maxRequest-len(q)+1), 413, "", "64 KiB"},
	} {
		r := httptest.NewRequest(c.method, "/"+who.Token+"/"+c.path, strings.NewReader(c.body))
		r.Host = "localhost"
		for name, value := range map[string]string{"Sec-Fetch-Site": c.site, "Content-Type": c.kind} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		said := strings.Contains(strings.ToLower(w.Body.String()), strings.ToLower(c.said))
		kind := w.Header().Get("Content-Type")
		if w.Code != c.code || !said || c.answer != "" && kind != c.answer || c.answer == "" && w.Body.Len() > 200 {
			t.Errorf("%s %q from %q: %d %s %.200s; want %d %s %s", c.method, c.path, c.site, w.Code, kind, w.Body,
				c.code, c.answer, c.said)
		}
		allow := map[bool]string{true: "POST", false: "GET, HEAD"}[c.path == "ask"]
		if got := w.Header().Get("Allow"); (c.code == http.StatusMethodNotAllowed) != (got == allow) {
			t.Errorf("%s %q: allowed are %q", c.method, c.path, got)
		}
		if locked := strings.Contains(w.Header().Get("Content-Security-Policy"),
			"default-src 'none'"); locked == (c.path == "" && c.code == 200) {
			t.Errorf("%s %q: the policy is %q", c.method, c.path, w.Header().Get("Content-Security-Policy"))
		}
	}
}
