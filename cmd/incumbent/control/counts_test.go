package control

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// numbers compares counts of a state.
func (r *remote) numbers(query string, want map[string]float64) {
	r.t.Helper()
	_, state := r.ask(http.MethodGet, "/v1/state"+query, "", nil)
	requests := state["requests"].(map[string]any)
	for name, n := range want {
		got, _ := state[name].(float64)
		if of, ok := requests[name].(float64); ok {
			got = of
		}
		if got != n {
			r.t.Errorf("state%s: %s is %v, want %v", query, name, got, n)
		}
	}
}

// The state counts what clients did: of each server, and of all together.
func TestTheStateCounts(t *testing.T) {
	r := serve(t, "")
	r.numbers("", map[string]float64{"handshakes": 0, "connections": 0, "watches": 0, "getData": 0})
	conn, _ := r.client()
	for range 2 {
		if _, _, _, err := conn.GetW("/"); err != nil {
			t.Fatal(err)
		}
	}
	r.numbers("", map[string]float64{"handshakes": 1, "connections": 1, "watches": 1, "getData": 2})
	m := serveMembers(t)
	for number, reads := range map[int]int{1: 1, 3: 2} {
		conn, _ := m.at(number)
		for range reads {
			if _, _, _, err := conn.GetW("/"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for query, n := range map[string]map[string]float64{
		"":          {"handshakes": 2, "connections": 2, "watches": 2, "getData": 3},
		"?server=1": {"handshakes": 1, "connections": 1, "watches": 1, "getData": 1},
		"?server=2": {"handshakes": 0, "connections": 0, "watches": 0, "getData": 0},
		"?server=3": {"handshakes": 1, "connections": 1, "watches": 1, "getData": 2},
	} {
		m.numbers(query, n)
	}
}

// A rule of one server leaves the requests to others alone, and one without a server concerns any.
func TestARuleOfOneServer(t *testing.T) {
	m := serveMembers(t)
	var conns []*zk.Conn
	for number := 1; number <= 3; number++ {
		conn, _ := m.at(number)
		conns = append(conns, conn)
	}
	m.post("/v1/next", of(2, `,"op":"exists","action":"refuse","code":-102`))
	for i, want := range []error{nil, zk.ErrNoAuth, nil, nil} {
		if _, _, err := conns[i%3].Exists("/"); err != want {
			t.Errorf("server %d: %v, want %v", i%3+1, err, want)
		}
	}
	m.post("/v1/next", `{"op":"exists","action":"refuse","code":-102,"times":3}`)
	for i, conn := range conns {
		if _, _, err := conn.Exists("/"); err != zk.ErrNoAuth {
			t.Errorf("server %d: %v, want a refusal", i+1, err)
		}
	}
}

// Lines for which a slow reader has no room are counted in the next one that it gets, as often as that happens.
func TestASlowReaderOfTheStream(t *testing.T) {
	l := &listener{lines: make(chan requestLine, 1), server: 2}
	h := &handler{listeners: map[*listener]bool{l: true}}
	missing := 0
	for round, more := range []int{2, 3, 0, 0} { // lines behind the one that there is room for
		h.publish(1, zkmem.Request{Op: zkmem.OpSync})
		for range 1 + more {
			h.publish(2, zkmem.Request{Op: zkmem.OpGetData, Path: "/a"})
		}
		if got := <-l.lines; got.Dropped != missing || got.Path != "/a" || got.Server != 2 {
			t.Errorf("round %d: %+v, want %d that are missing", round, got, missing)
		}
		missing = more
	}
}

// pipes is a listener whose connections are in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A request that does not come to its end is given up: its head after 10 s, and the rest after 30.
func TestASlowRequest(t *testing.T) {
	for text, most := range map[string]time.Duration{
		"POST /v1/heal HTTP/1.1\r\nHost: a\r\n": 10 * time.Second,
		"POST /v1/heal HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
			"Content-Length: 9\r\n\r\n{": 30 * time.Second,
	} {
		virtual.Test(t, func(t *testing.T) {
			srv, l := zkmem.New(zkmem.Options{}), make(pipes)
			defer srv.Close()
			defer Serve(l, Standalone(srv), "", func(string) bool { return true })()
			client, server := net.Pipe()
			defer client.Close()
			l <- server
			began := time.Now()
			if _, err := client.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			_ = client.SetReadDeadline(began.Add(time.Hour))
			if answer, err := io.ReadAll(client); err != nil || time.Since(began) != most {
				t.Errorf("after %s: %q, %v; want the end after %s", time.Since(began), answer, err, most)
			}
		})
	}
}

// A leader has its number, and no leader has 0.
func TestTheNumberOfALeader(t *testing.T) {
	e := zkmem.StartEnsemble(t, 3, options)
	all := Members(e)
	for i, srv := range e.Servers() {
		if got := all.number(srv); got != i+1 {
			t.Errorf("server %d is %d", i+1, got)
		}
	}
	if got := all.number(nil); got != 0 {
		t.Errorf("nobody is %d", got)
	}
}
