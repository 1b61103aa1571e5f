package control

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

const enough = repeat.Enough // bounds a wait and decides nothing

// remote is a server and the HTTP client that rules it.
type remote struct {
	t     *testing.T
	srv   *zkmem.Server
	base  string
	http  *http.Client
	token string
}

func serve(t *testing.T, token string) *remote {
	t.Helper()
	srv := zkmem.Start(t, options)
	return serveThese(t, srv, Standalone(srv), token)
}

var options = zkmem.Options{Tick: 100 * time.Millisecond, MaxSessionTimeout: time.Minute}

func serveThese(t *testing.T, srv *zkmem.Server, servers Servers, token string) *remote {
	t.Helper()
	l, err := Listen("127.0.0.1:0", token)
	if err != nil {
		t.Fatal(err)
	}
	expected := func(host string) bool { return host == l.Addr().String() || host == "zookeeper.test" }
	t.Cleanup(Serve(l, servers, token, expected))
	return &remote{t: t, srv: srv, base: "http://" + l.Addr().String(), token: token,
		http: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
}

// ask sends a request and returns its status and what was answered.
func (r *remote) ask(method, path, body string, change func(*http.Request)) (int, map[string]any) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), enough)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, method, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	if r.token != "" {
		q.Header.Set("Authorization", "Bearer "+r.token)
	}
	if change != nil {
		change(q)
	}
	answer, err := r.http.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	var said map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		r.t.Fatalf("%s %s: no JSON: %v", method, path, err)
	}
	return answer.StatusCode, said
}

func (r *remote) post(path, body string) {
	r.t.Helper()
	if status, said := r.ask(http.MethodPost, path, body, nil); status != http.StatusOK {
		r.t.Fatalf("POST %s %s: %d %v", path, body, status, said)
	}
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

// client connects a client and returns the channel of its states.
func (r *remote) client() (*zk.Conn, <-chan zk.Event) {
	r.t.Helper()
	conn, events, err := zk.Connect([]string{r.srv.Addr()}, 50*time.Second, zk.WithLogInfo(false),
		zk.WithLogger(quiet{}))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(conn.Close)
	r.await(events, zk.StateHasSession)
	return conn, events
}

func (r *remote) await(events <-chan zk.Event, state zk.State) {
	r.t.Helper()
	for end := time.After(enough); ; {
		select {
		case e := <-events:
			if e.State == state {
				return
			}
		case <-end:
			r.t.Fatalf("no %v", state)
		}
	}
}

func (r *remote) session() string {
	_, state := r.ask(http.MethodGet, "/v1/state", "", nil)
	return state["sessions"].([]any)[0].(map[string]any)["id"].(string)
}

// Sessions and connections end, and the server stops and starts, when a request says so.
func TestControlEndsThings(t *testing.T) {
	r := serve(t, "")
	conn, events := r.client()
	if _, err := conn.Create("/e", []byte("x"), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	id := r.session()
	r.post("/v1/cut", `{"session":"`+id+`"}`)
	r.await(events, zk.StateDisconnected)
	r.await(events, zk.StateHasSession)
	r.post("/v1/stop", "")
	r.await(events, zk.StateDisconnected)
	r.post("/v1/restart", "")
	r.await(events, zk.StateHasSession)
	_, tree := r.ask(http.MethodGet, "/v1/tree?path=/e", "", nil)
	if node := tree["nodes"].([]any)[0].(map[string]any); node["owner"] != id || node["data"] != "eA==" {
		t.Error(node)
	}
	r.post("/v1/expire", `{"session":"`+id+`"}`)
	r.await(events, zk.StateExpired)
	r.await(events, zk.StateHasSession)
	if status, said := r.ask(http.MethodPost, "/v1/expire", `{"session":"`+id+`"}`, nil); status != 404 {
		t.Error("expired twice:", status, said)
	}
	second := r.session()
	r.post("/v1/clock", `{"by":"51s"}`)
	r.await(events, zk.StateExpired)
	r.await(events, zk.StateHasSession)
	if now := r.session(); now == second || now == id {
		t.Error("the session outlived its timeout")
	}
	r.post("/v1/wipe", "")
	r.await(events, zk.StateExpired)
}

// Requests get what was said about the next of their kind, and the stream shows them all.
func TestControlDecidesTheNextRequests(t *testing.T) {
	r := serve(t, "")
	conn, events := r.client()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/v1/requests", nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := r.http.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	open := zk.WorldACL(zk.PermAll)
	r.post("/v1/next", `{"op":"create","path":"/refused","action":"refuse","code":-101,"times":2}`)
	for i, want := range []error{zk.ErrNoNode, zk.ErrNoNode, nil} {
		if _, err := conn.Create("/refused", nil, 0, open); err != want {
			t.Errorf("try %d: %v, want %v", i, err, want)
		}
	}
	r.post("/v1/next", `{"op":"create","action":"cutAfter"}`)
	if _, err := conn.Create("/cut", nil, 0, open); err != zk.ErrConnectionClosed {
		t.Error("the reply was not lost:", err)
	}
	r.await(events, zk.StateHasSession)
	if there, _, err := conn.Exists("/cut"); !there || err != nil {
		t.Error("the create whose reply was lost was not carried out:", err)
	}
	began := time.Now()
	r.post("/v1/next", `{"op":"sync","action":"delay","delay":"150ms"}`)
	if _, err := conn.Sync("/"); err != nil || time.Since(began) < 150*time.Millisecond {
		t.Errorf("sync took %s, %v", time.Since(began), err)
	}
	r.post("/v1/freeze", `{"direction":"out"}`)
	r.post("/v1/heal", "")
	if _, _, err := conn.Get("/cut"); err != nil {
		t.Error(err)
	}
	var seen []string
	for lines := bufio.NewScanner(stream.Body); len(seen) == 0 || seen[len(seen)-1] != "getData /cut"; {
		if !lines.Scan() {
			t.Fatalf("the stream ended after %q: %v", seen, lines.Err())
		}
		var line struct{ Op, Path string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, line.Op+" "+line.Path)
	}
	all := strings.Join(seen, ", ")
	if !strings.Contains(all, "create /refused, create /refused, create /refused, create /cut") {
		t.Error(all)
	}
}

// What is hostile or mistaken gets a 4xx with an error that says what would be right, and harms nobody.
func TestHostileRequests(t *testing.T) {
	r := serve(t, "")
	host := func(name string) func(*http.Request) { return func(q *http.Request) { q.Host = name } }
	page := func(origin string) func(*http.Request) {
		return func(q *http.Request) { q.Header.Set("Origin", origin); q.Header.Del("Content-Type") }
	}
	for _, test := range []struct {
		method, path, body string
		change             func(*http.Request)
		status             int
		says               string
	}{
		{"GET", "/", "", nil, 404, "/v1/state"},
		{"GET", "/v1/../v1/expire", "", nil, 404, "no "},
		{"GET", "/v1/expire", "", nil, 405, "wants POST"},
		{"POST", "/v1/state", "{}", nil, 405, "wants GET"},
		{"POST", "/v1/expire", "{}", host("rebound.example:80"), 403, "want an address"},
		{"POST", "/v1/expire", "{}", func(q *http.Request) { q.Header.Set("Content-Type", "text/plain") }, 415,
			"application/json"},
		{"POST", "/v1/heal", "", page("https://evil.example"), 403, "page in a browser"},
		{"POST", "/v1/heal", "{}", page("null"), 403, "page in a browser"},
		{"POST", "/v1/isolate", "{}", nil, 404, "--ensemble 3"},
		{"POST", "/v1/stop", `{"server":1}`, nil, 400, "standalone server, which has no number"},
		{"GET", "/v1/state?server=1", "", nil, 400, "standalone server, which has no number"},
		{"POST", "/v1/expire", "[]", nil, 400, "no JSON object"},
		{"POST", "/v1/expire", "null", nil, 400, "no JSON object"},
		{"POST", "/v1/expire", "{", nil, 400, "no JSON object"},
		{"POST", "/v1/expire", `{"session":7}`, nil, 400, "session"},
		{"POST", "/v1/expire", `{"session":"0xzz"}`, nil, 400, "such as"},
		{"POST", "/v1/expire", `{"session":"0x1"}`, nil, 404, "no session 0x1"},
		{"POST", "/v1/expire", `{"sesion":"0x1"}`, nil, 400, `no field "sesion": it has session`},
		{"POST", "/v1/cut", `{"session":"0x1"}`, nil, 404, "not connected"},
		{"POST", "/v1/freeze", `{"direction":"up"}`, nil, 400, `want "in"`},
		{"POST", "/v1/clock", `{"by":"-1s"}`, nil, 400, "positive"},
		{"POST", "/v1/clock", `{"by":"9999999h"}`, nil, 400, "ten years"},
		{"POST", "/v1/clock", `{"by":"0s"}`, nil, 400, "positive"},
		{"POST", "/v1/clock", `{"by":"soon"}`, nil, 400, "positive"},
		{"POST", "/v1/next", `{"op":"bogus","action":"delay"}`, nil, 400, "want an operation"},
		{"POST", "/v1/next", `{"action":"explode"}`, nil, 400, "want delay, loseReply"},
		{"POST", "/v1/next", `{"action":"refuse"}`, nil, 400, "want a code"},
		{"POST", "/v1/next", `{"action":"delay"}`, nil, 400, "positive time"},
		{"POST", "/v1/next", `{"action":"cutAfter","times":-1}`, nil, 400, "at least 1"},
		{"POST", "/v1/stop", `{"session":"0x1"}`, nil, 400, "it has none"},
		{"POST", "/v1/expire", `{"session":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "at most"},
		{"GET", "/v1/tree?path=nope", "", nil, 404, "no node"},
	} {
		status, said := r.ask(test.method, test.path, test.body, test.change)
		if text, _ := said["error"].(string); status != test.status || !strings.Contains(text, test.says) {
			t.Errorf("%s %s %.60s: %d %q, want %d and %q", test.method, test.path, test.body, status, text,
				test.status, test.says)
		}
	}
	if status, _ := r.ask(http.MethodGet, "/v1/state", "", nil); status != 200 {
		t.Error("the server suffered:", status)
	}
}

// The clock is moved by a hundred years at most, in all: a call that goes beyond is refused whole, and says how far it
// is.
func TestTheClockIsBounded(t *testing.T) {
	r := serve(t, "")
	for _, by := range []string{"0s", "-1s", "87600h1ns", "x", ""} {
		status, said := r.ask(http.MethodPost, "/v1/clock", `{"by":"`+by+`"}`, nil)
		if text, _ := said["error"].(string); status != 400 ||
			!strings.Contains(text, "a positive time of at most ten years") {
			t.Errorf("%s: %d %q", by, status, text)
		}
	}
	const decade = `{"by":"87600h"}`
	for range 10 {
		r.post("/v1/clock", decade)
	}
	for _, beyond := range []string{decade, `{"by":"1ns"}`} {
		status, said := r.ask(http.MethodPost, "/v1/clock", beyond, nil)
		if text, _ := said["error"].(string); status != 400 ||
			!strings.Contains(text, "876000h0m0s ahead already, and may be 876000h0m0s at most: start another server") {
			t.Errorf("%s: %d %q", beyond, status, text)
		}
	}
	if _, err := r.srv.Create("/late", nil, zkmem.Persistent); err != nil {
		t.Fatal(err)
	}
	r.srv.View(func(v *zkmem.View) {
		if _, stat, err := v.Get("/late"); err != nil ||
			stat.Ctime < time.Now().Add(zkmem.MaxAdvance-time.Hour).UnixMilli() {
			t.Errorf("created at %d, %v", stat.Ctime, err)
		}
	})
}

// Off the loopback there has to be a token, and with one every request needs it.
func TestTheToken(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:80", "nope"} {
		if l, err := Listen(addr, ""); err == nil {
			l.Close()
			t.Errorf("listens on %s without a token", addr)
		}
	}
	r := serve(t, "secret")
	if status, _ := r.ask(http.MethodGet, "/v1/state", "", func(q *http.Request) {
		q.Host = "zookeeper.test"
	}); status != 200 {
		t.Error("with the token:", status)
	}
	if status, _ := r.ask(http.MethodGet, "/v1/state", "", func(q *http.Request) {
		q.Host = "rebound.example"
	}); status != 403 {
		t.Error("with the token, for another host:", status)
	}
	for _, wrong := range []string{"", "Bearer guess", "secret"} {
		if status, _ := r.ask(http.MethodGet, "/v1/state", "", func(q *http.Request) {
			q.Header.Set("Authorization", wrong)
		}); status != 401 {
			t.Errorf("with %q: %d", wrong, status)
		}
	}
	r.http.Timeout = enough // a stream has no end
	answer, err := r.http.Get(r.base + "/v1/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != 401 {
		t.Errorf("the stream without a token: %d %s", answer.StatusCode, body)
	}
}
