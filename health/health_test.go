package health_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const line = "/jobs/nightly"

// join opens a client with a latch in the line.
func join(t *testing.T, srv *zkmem.Server, id string) (*incumbent.Client, *incumbent.Latch) {
	t.Helper()
	c, err := incumbent.Open(context.Background(),
		incumbent.Config{Servers: srv.Addr(), SessionTimeout: 4 * time.Second, Tick: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.Close(ctx)
	})
	l, err := c.Latch(line, incumbent.LatchOptions{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitConnected(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	return c, l
}

// statuses gets the three endpoints with options, and wants these status codes.
func statuses(t *testing.T, when string, c *incumbent.Client, o health.Options, lives, ready, leader int) string {
	t.Helper()
	h, err := health.Handler(c, o)
	if err != nil {
		t.Fatal(err)
	}
	body := ""
	for path, want := range map[string]int{"/livez": lives, "/readyz": ready, "/leader": leader} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != want {
			t.Errorf("%s: %s is %d (%s), want %d", when, path, w.Code, strings.TrimSpace(w.Body.String()), want)
		}
		if path == "/leader" {
			body = w.Body.String()
		}
	}
	return body
}

func TestStatusCodes(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Tick: time.Second})
	plain, strict := health.Options{Path: line}, health.Options{Path: line, RequireConnection: true, LeaderOnly: true}
	first, leader := join(t, srv, "first")
	held, err := leader.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, _ := join(t, srv, "second")
	var said health.Leader
	if err := json.Unmarshal([]byte(statuses(t, "leader", first, plain, 200, 200, 200)), &said); err != nil {
		t.Fatal(err)
	}
	if !said.Leads || said.Token != held.Token() || said.ValidForMS <= 0 || said.First == nil ||
		said.First.ID != "first" {
		t.Errorf("the leader says %+v", said)
	}
	statuses(t, "leader, strict", first, strict, 200, 200, 200)
	body := statuses(t, "standby", second, plain, 200, 200, 200)
	if !strings.Contains(body, `"leads":false`) || !strings.Contains(body, `"id":"first"`) {
		t.Errorf("the standby says %s", body)
	}
	statuses(t, "standby, strict", second, strict, 200, 503, 200)
	statuses(t, "no line", second, health.Options{}, 200, 200, 404)

	suspended := make(chan struct{})
	once := sync.OnceFunc(func() { close(suspended) })
	defer first.OnConnection(func(s incumbent.ConnectionState) {
		if s == incumbent.Suspended {
			once()
		}
	})()
	srv.Freeze(zkmem.Outbound)
	statuses(t, "a server that hangs", second, plain, 200, 200, 503)
	<-held.Context().Done()
	<-suspended // the term may have ended before
	statuses(t, "work outlives its term, within its grace", first,
		health.Options{Path: line, Grace: time.Hour}, 200, 200, 503)
	statuses(t, "work outlives its term", first,
		health.Options{Path: line, Grace: time.Nanosecond, RequireConnection: true}, 503, 503, 503)
	held.Release()
	statuses(t, "work has returned", first, health.Options{Path: line, Grace: time.Nanosecond}, 200, 200, 503)
	srv.Heal()
	if err := second.Close(t.Context()); err != nil {
		t.Log(err)
	}
	statuses(t, "closed", second, plain, 503, 503, 503)
}

func TestWrongOptions(t *testing.T) {
	srv := zkmem.Start(t)
	c, _ := join(t, srv, "one")
	for _, o := range []health.Options{{Grace: -1}, {Probe: -1}, {LeaderOnly: true}, {Path: "no/slash"}} {
		if _, err := health.Handler(c, o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if _, err := health.Handler(nil, health.Options{}); err == nil {
		t.Error("a nil client is accepted")
	}
}

type believer bool

func (b believer) HasLeadership() bool { return bool(b) }

func TestLeaderOnly(t *testing.T) {
	next := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	list := map[string]string{"a": "https://10.0.0.7:8443/ignored", "odd": "javascript:alert(1)", "plain": "10.0.0.7",
		"http": "http://10.0.0.8", "ftp": "ftp://10.0.0.7/x", "nowhere": "https:///x"}
	for _, c := range []struct {
		leads        believer
		leader, url  string
		status       int
		to, retry    string
		withoutAllow bool
	}{
		{leads: true, url: "/x", status: 418},
		{leader: "a", url: "/x%2Fy?q=1", status: 307, to: "https://10.0.0.7:8443/x%2Fy?q=1&incumbent-hop=1"},
		{leader: "a", url: "/x?z=1;2&b=%20&a", status: 307,
			to: "https://10.0.0.7:8443/x?z=1;2&b=%20&a&incumbent-hop=1"},
		{leader: "a", url: "/x?z=1;2&incumbent-hop=1", status: 503, retry: "1"},
		{leader: "a", url: "//evil.example/x", status: 307,
			to: "https://10.0.0.7:8443//evil.example/x?incumbent-hop=1"},
		{leader: "a", url: "/x?incumbent-hop=1", status: 503, retry: "1"},
		{leader: "https://evil.example", url: "/x", status: 503, retry: "1"},
		{leader: "odd", url: "/x", status: 503, retry: "1"},
		{leader: "plain", url: "/x", status: 503, retry: "1"},
		{leader: "http", url: "/x", status: 307, to: "http://10.0.0.8/x?incumbent-hop=1"},
		{leader: "ftp", url: "/x", status: 503, retry: "1"},
		{leader: "nowhere", url: "/x", status: 503, retry: "1"},
		{url: "/x", status: 503, retry: "1", withoutAllow: true},
	} {
		target := health.Allowed(func() string { return c.leader }, list)
		if c.withoutAllow {
			target = nil
		}
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://self"+c.url, nil)
		health.LeaderOnly(c.leads, target, next).ServeHTTP(w, r)
		if w.Code != c.status || w.Header().Get("Location") != c.to || w.Header().Get("Retry-After") != c.retry {
			t.Errorf("%+v: %d, Location %q, Retry-After %q", c, w.Code, w.Header().Get("Location"),
				w.Header().Get("Retry-After"))
		}
	}
}

// However many ask who leads, the client has few reads of the line at once, and its own requests do not stand behind
// them.
func TestAFloodOfLeaderRequests(t *testing.T) {
	srv := zkmem.Start(t, zkmem.Options{Tick: time.Second})
	c, _ := join(t, srv, "one")
	h, err := health.Handler(c, health.Options{Path: line})
	if err != nil {
		t.Fatal(err)
	}
	srv.Freeze(zkmem.Outbound) // so reads are not answered
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	codes := make(chan int, 200)
	for range cap(codes) {
		all.Go(func() {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/leader", nil))
			codes <- w.Code
		})
	}
	first := <-codes // the first gave up: the others have asked by then
	most := 0
	for _, lane := range c.Stats().Lanes {
		most = max(most, lane.Waiting+lane.Pending)
	}
	cancel()
	all.Wait()
	close(codes)
	for code := range codes {
		if code != http.StatusServiceUnavailable {
			t.Errorf("%d without an answer", code)
		}
	}
	// a slow machine gives time for further rounds of reads
	if first != http.StatusServiceUnavailable || most > cap(codes)/2 {
		t.Errorf("%d; %d requests stand in one lane", first, most)
	}
	srv.Heal()
}
