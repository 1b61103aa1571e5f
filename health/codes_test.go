package health_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// situation is a client in one state, and what its endpoints and middleware answer.
type situation struct {
	name    string
	client  *incumbent.Client
	b       health.Believer
	options health.Options
	codes   string // of /livez, /readyz, /leader
	only    int    // of LeaderOnly, with a target
}

func code(h http.Handler, method, url string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, url, nil))
	return w.Code
}

// check gets each endpoint by every method, and asks LeaderOnly with a target, without one, and again.
func (s situation) check(t *testing.T) {
	t.Helper()
	h, err := health.Handler(s.client, s.options)
	if err != nil {
		t.Fatal(s.name, err)
	}
	codes := map[string]int{"200": 200, "404": 404, "503": 503}
	for i, want := range strings.Fields(s.codes) {
		path := []string{"/livez", "/readyz", "/leader"}[i]
		for method, want := range map[string]int{"GET": codes[want], "HEAD": codes[want], "POST": 405, "PUT": 405,
			"DELETE": 405, "OPTIONS": 405} {
			if got := code(h, method, path); got != want {
				t.Errorf("%s: %s %s is %d, want %d", s.name, method, path, got, want)
			}
		}
	}
	for _, path := range []string{"/", "/livez/", "/LIVEZ", "/leader/x", "/metrics"} {
		if got := code(h, "GET", path); got != 404 {
			t.Errorf("%s: %s is %d", s.name, path, got)
		}
	}
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	target := func(*http.Request) string { return "https://leader.example" }
	again := s.only
	if again == 307 {
		again = 503 // it was redirected before: the other one did not lead either
	}
	for method, body := range map[string]string{"GET": "", "POST": "x", "DELETE": ""} {
		for url, want := range map[string]int{"/x": s.only, "/x?incumbent-hop=1": again} {
			w, r := httptest.NewRecorder(), httptest.NewRequest(method, url, strings.NewReader(body))
			health.LeaderOnly(s.b, target, next).ServeHTTP(w, r)
			if w.Code != want || w.Code == 503 && w.Header().Get("Retry-After") == "" ||
				w.Code != 204 && w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %s %s to LeaderOnly is %d %v, want %d", s.name, method, url, w.Code, w.Header(), want)
			}
		}
	}
	withoutTarget := 503
	if s.only == 204 {
		withoutTarget = 204
	}
	if got := code(health.LeaderOnly(s.b, nil, next), "GET", "/x"); got != withoutTarget {
		t.Errorf("%s: LeaderOnly without a target is %d, want %d", s.name, got, withoutTarget)
	}
}

// Each status code of each endpoint and of LeaderOnly, for a leader, a standby, one that stands in no line, one whose
// connection hangs, one whose work outlives its term, and one that is closed; with every option.
func TestEveryStatusCode(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Tick: time.Second})
	plain := health.Options{Path: line}
	connection, only := health.Options{Path: line, RequireConnection: true},
		health.Options{Path: line, LeaderOnly: true}
	first, leader := join(t, srv, "first")
	held, err := leader.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, standby := join(t, srv, "second")
	for _, s := range []situation{
		{"leader", first, leader, plain, "200 200 200", 204},
		{"leader, connection required", first, leader, connection, "200 200 200", 204},
		{"leader, leaders only", first, leader, only, "200 200 200", 204},
		{"leader of another line", first, leader, health.Options{Path: "/jobs/other", LeaderOnly: true},
			"200 503 200", 204},
		{"standby", second, standby, plain, "200 200 200", 307},
		{"standby, connection required", second, standby, connection, "200 200 200", 307},
		{"standby, leaders only", second, standby, only, "200 503 200", 307},
		{"no line", second, standby, health.Options{}, "200 200 404", 307},
	} {
		s.check(t)
	}

	lost := make(chan bool, 8)
	defer second.OnConnection(func(s incumbent.ConnectionState) {
		if s == incumbent.Suspended {
			lost <- true
		}
	})()
	srv.Freeze(zkmem.Outbound) // the ensemble hangs
	<-held.Context().Done()
	<-lost
	for _, s := range []situation{
		{"no ensemble", second, standby, plain, "200 200 503", 307},
		{"no ensemble, connection required", second, standby, connection, "200 503 503", 307},
		{"no ensemble, leaders only", second, standby, only, "200 503 503", 307},
		{"no ensemble, no line", second, standby, health.Options{}, "200 200 404", 307},
		{"work after its term, in time", first, leader, health.Options{Path: line, Grace: time.Hour},
			"200 200 503", 307},
		{"work after its term, too long", first, leader, health.Options{Path: line, Grace: 1}, "503 200 503", 307},
	} {
		s.check(t)
	}
	held.Release()
	srv.Heal()
	_ = second.Close(t.Context())
	for _, s := range []situation{
		{"closed", second, standby, plain, "503 503 503", 307},
		{"closed, no line", second, standby, health.Options{}, "503 503 404", 307},
	} {
		s.check(t)
	}
}
