package doctor

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// world is a network in memory: what is at each address.
type world struct {
	at      map[string]*zkmem.Server
	hanging map[string]bool // accepts connections, and says nothing
	words   map[string]bool // answers no four-letter word
	tls     *tls.Config     // nil: in the clear
	admin   map[string]http.Handler
}

func newWorld() *world {
	return &world{at: map[string]*zkmem.Server{}, hanging: map[string]bool{}, words: map[string]bool{}}
}

// dial connects to what is at an address.
func (w *world) dial(_ context.Context, address string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	switch s := w.at[address]; {
	case w.admin[address] != nil:
		go serveHTTP(theirs, w.admin[address])
	case w.hanging[address]:
	case s == nil:
		return nil, errors.New("connection refused")
	case w.words[address]:
		go s.ServeConn(&wordless{Conn: theirs})
	case w.tls != nil:
		go s.ServeConn(tls.Server(theirs, w.tls))
	default:
		go s.ServeConn(theirs)
	}
	return ours, nil
}

// serveHTTP answers one request.
func serveHTTP(conn net.Conn, handler http.Handler) {
	defer conn.Close()
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	answer := httptest.NewRecorder()
	answer.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	handler.ServeHTTP(answer, request)
	answer.Result().Write(conn)
}

// wordless is a server's end of a connection, which ends before a four-letter word is read.
type wordless struct {
	net.Conn
	begun bool
}

func (c *wordless) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if !c.begun && n == 4 && slices.Contains([]string{"srvr", "conf", "mntr"}, string(b[:n])) {
		c.Conn.Write([]byte(string(b[:n]) + " is not executed because it is not in the whitelist.\n"))
		c.Conn.Close()
		return 0, errors.New("a word")
	}
	c.begun = true
	return n, err
}

// alone is a standalone server at "zk:2181".
func alone(t *testing.T, o zkmem.Options) (*world, *zkmem.Server) {
	t.Helper()
	w, s := newWorld(), zkmem.New(o)
	t.Cleanup(s.Close)
	w.at["zk:2181"] = s
	return w, s
}

// three is an ensemble at "zk1:2181", "zk2:2181", "zk3:2181".
func three(t *testing.T, o zkmem.Options) (*world, *zkmem.Ensemble) {
	t.Helper()
	w := newWorld()
	e, err := zkmem.NewEnsemble(3, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	for i, s := range e.Servers() {
		address := fmt.Sprintf("zk%d:2181", i+1)
		w.at[address] = s
		if err := e.Advertise(s, address); err != nil {
			t.Fatal(err)
		}
	}
	return w, e
}

// address returns where a server is.
func (w *world) address(s *zkmem.Server) string {
	for address, other := range w.at {
		if other == s {
			return address
		}
	}
	return ""
}

// settings are those for all servers of the world.
func (w *world) settings() Settings {
	var servers []string
	for address := range w.at {
		servers = append(servers, address)
	}
	for address := range w.hanging {
		if w.at[address] == nil {
			servers = append(servers, address)
		}
	}
	slices.Sort(servers)
	return Settings{Servers: servers, Dial: w.dial,
		LookUp: func(_ context.Context, host string) ([]string, error) {
			return []string{fmt.Sprintf("10.0.0.%d", host[len(host)-1])}, nil
		}}
}

// ids are the findings of a report, as "severity id where".
func ids(r Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, fmt.Sprintf("%s %s %s", f.Severity, f.ID, f.Where))
	}
	return all
}

// found checks that the findings are these and no others.
func found(t *testing.T, r Report, want ...string) {
	t.Helper()
	if got := ids(r); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q\n%s", got, want, strings.Join(r.Text(false), "\n"))
	}
	for _, line := range r.Text(false) {
		if len(line) > columns {
			t.Errorf("a line of %d columns: %s", len(line), line)
		}
	}
	for _, f := range r.Findings {
		if !strings.HasSuffix(f.Is, ".") || !strings.HasSuffix(f.Do, ".") {
			t.Errorf("%s is no sentence: %s %s", f.ID, f.Is, f.Do)
		}
	}
}

// inBubble runs a test in virtual time.
func inBubble(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { virtual.Within(t, time.Hour, test) })
}
