package control

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxBody is how many bytes a request may have.
const maxBody = 64 << 10

// Check refuses an address that Listen would not accept. Without a token it has to be on the loopback: everybody who
// reaches it controls the server.
func Check(addr, token string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("control: address %q: want host:port, such as 127.0.0.1:8080", addr)
	}
	if token == "" && !loopback(host) {
		return fmt.Errorf("control: address %q is not on the loopback: give a token, or listen on 127.0.0.1", addr)
	}
	return nil
}

// Listen listens on an address for the control server.
func Listen(addr, token string) (net.Listener, error) {
	if err := Check(addr, token); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("control: %w", err)
	}
	return l, nil
}

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// Serve serves control of servers on l in the background, for requests whose host is expected. The returned function
// ends it, and every stream.
func Serve(l net.Listener, servers Servers, token string, expected func(host string) bool) (end func()) {
	h := newHandler(servers, token)
	h.expected = expected
	var conns sync.WaitGroup
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	server.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			conns.Add(1)
		case http.StateClosed:
			conns.Done()
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with ErrServerClosed
	}()
	return func() {
		close(h.end)
		_ = server.Close() // the listener's error is of no use any more
		<-done
		conns.Wait()
	}
}

// refusal is an error that the client gets, with its status.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func refuse(status int, format string, args ...any) error {
	return refusal{status, fmt.Sprintf(format, args...)}
}

// ServeHTTP answers one request. Everything but the stream of requests is one JSON object.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := h.answer(w, r)
	if err != nil {
		status := http.StatusInternalServerError
		var why refusal
		if errors.As(err, &why) {
			status = why.status
		}
		reply(w, status, map[string]any{"error": err.Error()})
		return
	}
	if answer != nil {
		reply(w, http.StatusOK, answer)
	}
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone
}

// answer returns what to reply, or nil if that was done already.
func (h *handler) answer(w http.ResponseWriter, r *http.Request) (any, error) {
	if err := h.admit(r); err != nil {
		return nil, err
	}
	route, err := h.route(r.URL.Path)
	if err != nil {
		return nil, err
	}
	if r.Method != route.method {
		w.Header().Set("Allow", route.method)
		return nil, refuse(http.StatusMethodNotAllowed, "%s wants %s, and got %s", r.URL.Path, route.method, r.Method)
	}
	if route.stream {
		return nil, h.stream(w, r)
	}
	var ask ask
	if r.Method == http.MethodPost {
		if err := h.decode(w, r, route.fields, &ask); err != nil {
			return nil, err
		}
	}
	return route.do(h, r, ask)
}

// admit refuses who may not rule the server. A page in a browser must not get here by a name of its own for this
// server, so the request has to be for an expected host.
func (h *handler) admit(r *http.Request) error {
	if h.token != "" {
		got, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !bearer || subtle.ConstantTimeCompare([]byte(got), []byte(h.token)) != 1 {
			return refuse(http.StatusUnauthorized,
				"want the header Authorization: Bearer TOKEN, with the token that the server was given")
		}
	}
	if !h.expected(r.Host) {
		return refuse(http.StatusForbidden,
			"the request is for host %.100q: want an address, as 127.0.0.1, localhost, or a name of --http-host",
			r.Host)
	}
	if http.NewCrossOriginProtection().Check(r) != nil {
		return refuse(http.StatusForbidden, "the request is of a page in a browser, from %.100q: want a program",
			r.Header.Get("Origin"))
	}
	return nil
}

// decode reads a body of one JSON object that has no other fields than these. No body is an object without fields, with
// whatever type: clients in several languages send one of their own.
func (h *handler) decode(w http.ResponseWriter, r *http.Request, fields string, v *ask) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return refuse(http.StatusRequestEntityTooLarge, "the body: %v: want at most %d bytes", err, maxBody)
	}
	if len(body) == 0 {
		return nil
	}
	said := r.Header.Get("Content-Type")
	if kind, _, _ := strings.Cut(said, ";"); strings.TrimSpace(kind) != "application/json" {
		return refuse(http.StatusUnsupportedMediaType, "the body has Content-Type %q: want application/json", said)
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(body, &given); err != nil || given == nil {
		return refuse(http.StatusBadRequest, "the body is no JSON object: %v", err)
	}
	for name := range given {
		if !strings.Contains(" "+fields+" ", " "+name+" ") {
			return refuse(http.StatusBadRequest, "%s has no field %q: it has %s", r.URL.Path, name, h.shown(fields))
		}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return refuse(http.StatusBadRequest, "the body: %v", err)
	}
	return nil
}

// shown lists the fields that a body may have. Only an ensemble's has the number of a server.
func (h *handler) shown(fields string) string {
	if h.servers.ensemble == nil {
		fields = strings.TrimSpace(strings.ReplaceAll(" "+fields+" ", " server ", " "))
	}
	if fields == "" {
		return "none"
	}
	return fields
}
