package health_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/health"
)

// through serves a leader, and a process that passes requests on to it.
func through(t *testing.T, leader http.HandlerFunc) *httptest.Server {
	t.Helper()
	l := forward(t, true, health.ForwardOptions{Target: at("", 0)}, leader)
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	t.Cleanup(transport.CloseIdleConnections)
	return forward(t, false, health.ForwardOptions{Target: at(l.URL, 7), Transport: transport}, never)
}

// pattern is a body of so many bytes.
func pattern(n int64) io.Reader { return io.LimitReader(endless{}, n) }

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(i % 251)
	}
	return len(b), nil
}

// A body much larger than any buffer passes both ways, with trailers.
func TestLargeBodiesAndTrailersArePassedOn(t *testing.T) {
	const size = 32 << 20
	s := through(t, func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		n, err := io.Copy(sum, r.Body)
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.Copy(w, pattern(size))
		w.Header().Set("X-Sum", fmt.Sprintf("%d %v %x %s", n, err, sum.Sum(nil)[:4], r.Trailer.Get("X-End")))
		w.Header().Set(http.TrailerPrefix+"X-Late", "late")
	})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, pattern(size))
	if err != nil {
		t.Fatal(err)
	}
	r.Trailer = http.Header{"X-End": {"ended"}}
	answer, err := s.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	sum := sha256.New()
	_, _ = io.Copy(sum, pattern(size))
	want := fmt.Sprintf("%d <nil> %x ended", size, sum.Sum(nil)[:4])
	if err != nil || n != size || answer.Trailer.Get("X-Sum") != want || answer.Trailer.Get("X-Late") != "late" {
		t.Errorf("%d bytes, %v, trailers %v, want %s", n, err, answer.Trailer, want)
	}
}

// An answer to HEAD has the leader's header and no body.
func TestHeadIsPassedOn(t *testing.T) {
	s := through(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "12345")
		w.Header().Set("X-Method", r.Method)
	})
	status, header, body := ask(t, s, request(t, http.MethodHead, s.URL, ""))
	length, method := header.Get("Content-Length"), header.Get("X-Method")
	if status != http.StatusOK || length != "12345" || method != "HEAD" || body != "" {
		t.Errorf("%d %v %q", status, header, body)
	}
}

// Who asks before sending a body gets 100 from the leader that reads it, and only the answer of one that does not.
func TestExpectContinueIsPassedOn(t *testing.T) {
	s := through(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "got %s", body)
	})
	for path, want := range map[string]string{"/read": "HTTP/1.1 100 Continue",
		"/refused": "HTTP/1.1 413 Request Entity Too Large"} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n"+
			"Connection: close\r\n\r\n", path)
		in := bufio.NewReader(conn)
		if line, err := in.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
			t.Errorf("%s: %q, %v, want %q", path, line, err, want)
		}
		if path == "/read" {
			fmt.Fprint(conn, "hello")
			if rest, err := io.ReadAll(in); err != nil || !strings.Contains(string(rest), "got hello") {
				t.Errorf("%s: %q, %v", path, rest, err)
			}
		}
		conn.Close()
	}
}

// The leader's work ends when the client goes away in the middle of its request, or of the answer.
func TestAClientThatGoesAway(t *testing.T) {
	began, ended := make(chan bool), make(chan bool)
	s := through(t, func(w http.ResponseWriter, r *http.Request) {
		defer func() { ended <- true }()
		if r.URL.Path == "/body" {
			began <- true
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // net/http looks for the end of the connection behind the body
		if r.URL.Path == "/answer" {
			_ = http.NewResponseController(w).Flush()
		}
		began <- true
		<-r.Context().Done()
	})
	for _, path := range []string{"/none", "/answer", "/body"} {
		ctx, cancel := context.WithCancel(t.Context())
		body, hold := io.Pipe()
		if path != "/body" {
			hold.Close()
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, body)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			defer close(done)
			if answer, err := s.Client().Do(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		}()
		<-began
		cancel()
		<-ended
		hold.Close() // the client's transport waits for it
		<-done
	}
}
