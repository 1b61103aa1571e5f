package health_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/health"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// leads is a participant that leads, or does not.
type leads bool

func (l leads) HasLeadership() bool { return bool(l) }

// at returns a Target.
func at(url string, token int64) func(*http.Request) health.Target {
	return func(*http.Request) health.Target { return health.Target{URL: url, Token: token} }
}

// forward serves a process that leads or not.
func forward(t *testing.T, l leads, o health.ForwardOptions, next http.HandlerFunc) *httptest.Server {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	if o.Transport == nil {
		o.Transport = transport
	}
	h, err := health.ForwardToLeader(l, o, next)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// never is the handler of a process that does not lead.
func never(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }

// ask sends a request, and returns the status, the header and the body.
func ask(t *testing.T, s *httptest.Server, r *http.Request) (int, http.Header, string) {
	t.Helper()
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(body)
}

// request returns a request with these headers, in pairs.
func request(t *testing.T, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// The leader gets the request as it was, and echoes it; the client gets the leader's answer.
func TestARequestIsPassedOn(t *testing.T) {
	leader := forward(t, true, health.ForwardOptions{Target: at("", 0)}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusCreated)
		h := r.Header
		fmt.Fprintln(w, r.Method, r.RequestURI, string(body), r.Host, h.Get("X-Own"), h.Get(health.HopsHeader),
			h.Get(health.TokenHeader), h.Get("X-Forwarded-For"), h.Get("X-Forwarded-Proto"),
			h.Get("X-Forwarded-Host"))
	})
	other := forward(t, false, health.ForwardOptions{Target: at(leader.URL, 7)}, never)
	r := request(t, http.MethodPut, other.URL+"/a%2Fb?x=1;y&z=%zz", "body", "X-Own", "own",
		"X-Forwarded-For", "192.0.2.7", "X-Forwarded-Proto", "https")
	r.Host = "orders.example.com"
	status, header, body := ask(t, other, r)
	want := "PUT /a%2Fb?x=1;y&z=%zz body orders.example.com own 1 7 192.0.2.7, 127.0.0.1 https orders.example.com\n"
	if status != http.StatusCreated || header.Get("X-Answer") != "yes" || body != want {
		t.Errorf("%d %v\n%q, want\n%q", status, header, body, want)
	}
	r = request(t, http.MethodGet, other.URL, "", "X-Forwarded-Host", "said.example.com")
	r.Host = "orders.example.com"
	want = "GET /  orders.example.com  1 7 127.0.0.1 http said.example.com\n"
	if _, _, body = ask(t, other, r); body != want {
		t.Errorf("with nothing said before of the protocol: %q, want %q", body, want)
	}
	status, _, body = ask(t, leader, request(t, http.MethodGet, leader.URL+"/own", ""))
	if status != http.StatusCreated || !strings.HasPrefix(body, "GET /own ") {
		t.Errorf("the leader itself: %d %s", status, body)
	}
}

// What was surely not carried out is 503 with Retry-After, and says why.
func TestARequestThatIsNotPassedOn(t *testing.T) {
	dead := httptest.NewServer(http.HandlerFunc(never))
	dead.Close()
	nowhere, gone := health.ForwardOptions{Target: at("", 0)}, health.ForwardOptions{Target: at(dead.URL, 0)}
	twice := health.ForwardOptions{Target: at(dead.URL, 0), MaxHops: 2}
	seventh := health.ForwardOptions{Target: at("", 0), Token: func() int64 { return 7 }}
	twelfth := health.ForwardOptions{Target: at("", 0), Token: func() int64 { return 12 }}
	for _, c := range []struct {
		leads       leads
		options     health.ForwardOptions
		header, has string
		status      int
		says        string
	}{
		{false, nowhere, "X", "", 503, "nobody leads"},
		{false, health.ForwardOptions{Target: at("ftp://a", 0)}, "X", "", 503, "nobody leads"},
		{false, health.ForwardOptions{Target: at("http://", 0)}, "X", "", 503, "nobody leads"},
		{false, gone, "X", "", 503, "not reached"},
		{false, gone, health.HopsHeader, "1", 503, "passed on before"},
		{false, twice, health.HopsHeader, "1", 503, "not reached"},
		{false, twice, health.HopsHeader, "2", 503, "passed on before"},
		{true, seventh, health.TokenHeader, "8", 503, "later leader"},
		{true, seventh, health.TokenHeader, "7", 418, ""},
		{true, seventh, "X", "", 418, ""},
		{true, twelfth, health.TokenHeader, "12", 418, ""},
		{true, twelfth, health.TokenHeader, "13", 503, "later leader"},
		{true, nowhere, health.TokenHeader, "8", 418, ""},
		{true, nowhere, health.TokenHeader, "x", 400, health.TokenHeader},
		{true, nowhere, health.HopsHeader, "-1", 400, health.HopsHeader},
	} {
		s := forward(t, c.leads, c.options, never)
		status, header, body := ask(t, s, request(t, http.MethodPost, s.URL, "", c.header, c.has))
		again := header.Get("Retry-After") != ""
		if status != c.status || !strings.Contains(body, c.says) || again != (status == 503) {
			t.Errorf("%v, %s %s: %d %v %s, want %d %s",
				c.leads, c.header, c.has, status, header, body, c.status, c.says)
		}
	}
	for _, o := range []health.ForwardOptions{{}, {Target: at("", 0), MaxHops: -1}} {
		if _, err := health.ForwardToLeader(leads(true), o, http.HandlerFunc(never)); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

// Each part of an answer passes before the next is made, and the token is the highest that is known.
func TestAnswersAreStreamed(t *testing.T) {
	read := make(chan struct{})
	leader := forward(t, true, health.ForwardOptions{Target: at("", 0)}, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "first", r.Header.Get(health.TokenHeader))
		_ = http.NewResponseController(w).Flush()
		<-read
		fmt.Fprintln(w, "second")
	})
	other := forward(t, false, health.ForwardOptions{Target: at(leader.URL, 7), MaxHops: 3}, never)
	r := request(t, http.MethodGet, other.URL, "", health.HopsHeader, "1", health.TokenHeader, "9")
	answer, err := other.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for _, want := range []string{"first 9\n", "second\n"} {
		if line, err := lines.ReadString('\n'); err != nil || line != want {
			t.Fatalf("read %q, %v, want %q", line, err, want)
		}
		if want != "second\n" {
			close(read)
		}
	}
}

// A connection that is upgraded carries bytes both ways.
func TestUpgradesArePassedThrough(t *testing.T) {
	leader := forward(t, true, health.ForwardOptions{Target: at("", 0)}, func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		line, _ := buffered.ReadString('\n')
		fmt.Fprint(conn, "echo ", line)
	})
	other := forward(t, false, health.ForwardOptions{Target: at(leader.URL, 7)}, never)
	conn, err := net.Dial("tcp", other.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%+v, %v", answer, err)
	}
	fmt.Fprint(conn, "hello\n")
	if line, err := in.ReadString('\n'); err != nil || line != "echo hello\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// victim is what TestMain runs in a process that a test kills: it says its address, and each request that it got.
const victim = "HEALTH_TEST_VICTIM"

// serveUntilKilled answers /half by half an answer, and everything else by none.
func serveUntilKilled() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	panic(http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			fmt.Fprintln(w, "half")
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Println("got", r.URL.Path)
		<-r.Context().Done()
	})))
}

// A leader that is killed in the middle of a request: no answer is 502, half an answer is an error to the client, and
// the next request gets 503.
func TestALeaderIsKilledInMidRequest(t *testing.T) {
	for _, path := range []string{"/none", "/half"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victim+"=1")
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan()
		other := forward(t, false, health.ForwardOptions{Target: at("http://"+lines.Text(), 7)}, never)
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			lines.Scan() // "got"
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // the signal's status
		}()
		answer, err := other.Client().Do(request(t, http.MethodPost, other.URL+path, ""))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		<-killed
		lost := answer.StatusCode == http.StatusBadGateway && strings.Contains(string(body), "not known")
		switch {
		case path == "/none" && !lost:
			t.Errorf("no answer: %d %s", answer.StatusCode, body)
		case path == "/half" && (!errors.Is(err, io.ErrUnexpectedEOF) || string(body) != "half\n"):
			t.Errorf("half an answer: %q, %v", body, err)
		}
		status, header, _ := ask(t, other, request(t, http.MethodPost, other.URL+path, ""))
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" {
			t.Errorf("after the kill: %d %v", status, header)
		}
	}
}

// The follower has the first in line, by a list of IDs, and nobody once the line is empty or its client has ended.
func TestTheFollowerOfALine(t *testing.T) {
	srv := zkmem.Start(t)
	c, own := join(t, srv, "a")
	leadership, err := own.Await(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{"a": "http://a.example.com", "b": "http://b.example.com"}
	seen := make(chan string, 100)
	f, err := health.FollowLeader(c, line, func(p incumbent.Participant) string {
		seen <- p.ID
		return list[p.ID]
	})
	if err != nil {
		t.Fatal(err)
	}
	if id := <-seen; id != "a" {
		t.Errorf("the first is %q", id)
	}
	for f.Target(nil).URL == "" { // the address was asked for: it is stored next
		runtime.Gosched()
	}
	if got := f.Target(nil); got.URL != list["a"] || got.Token != leadership.Token() {
		t.Errorf("the target is %+v, want %s, token %d", got, list["a"], leadership.Token())
	}
	leadership.Release()
	if err := own.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for f.Target(nil).URL != "" { // the watch fires
		runtime.Gosched()
	}
	f.Close()
	f.Close()
	if got := f.Target(nil); got != (health.Target{}) {
		t.Errorf("after the end: %+v", got)
	}
	if _, err := health.FollowLeader(c, "no path", nil); err == nil {
		t.Error("a bad path is no error")
	}
}

// The follower of what is advertised has a URL for what is allowed, and nothing for everything else.
func TestTheFollowerOfWhatIsAdvertised(t *testing.T) {
	for advertised, want := range map[string]string{"a.example.com:80": "http://a.example.com:80",
		"https://b": "https://b", "evil:80": ""} {
		c, leadership := leadsAt(t, zkmem.Start(t), advertised)
		asked := make(chan string, 100)
		f, err := health.FollowAdvertised(c, line, func(address string) bool {
			asked <- address
			return address != "evil:80"
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := <-asked; got != advertised {
			t.Errorf("it asks whether %q is allowed, want %q", got, advertised)
		}
		for f.Target(nil).Token == 0 { // the address was asked for: it is stored next
			runtime.Gosched()
		}
		if got := f.Target(nil); got.URL != want || got.Token != leadership.Token() {
			t.Errorf("%s: the target is %+v, want %q", advertised, got, want)
		}
		f.Close()
		if got := f.Target(nil); got != (health.Target{}) {
			t.Errorf("after the end the target is %+v", got)
		}
		leadership.Release()
	}
	if _, err := health.FollowAdvertised(nil, "no path", nil); err == nil {
		t.Error("a bad path is no error")
	}
}
