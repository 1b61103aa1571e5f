//go:build unix

package suites

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// hub serves zkmem for the processes that a suite's harness takes for servers. Each stands for a standalone server, or
// for a member of an ensemble, which runs while its process does.
type hub struct {
	listener net.Listener
	work     sync.WaitGroup

	mu        sync.Mutex
	conns     map[net.Conn]struct{} // of processes and of their clients; nil when the hub has ended
	ports     map[string]*server    // by clientPort
	ensembles map[string]*ensemble
	all       []*ensemble // also those that were replaced
}

// ensemble is the servers that have one history, or a standalone one. Guarded by hub.mu.
type ensemble struct {
	servers map[string]*server // by myid
	close   func()
}

// server is one of an ensemble. Guarded by hub.mu.
type server struct {
	*zkmem.Server
	dir       string          // where it keeps its data, "" before its first start
	secure    *tls.Config     // of secureClientPort, as of its last start; nil for none
	ensemble  *zkmem.Ensemble // nil for a standalone server
	processes int             // for a moment there may be two: the hub has not seen the former one's end
}

// newHub starts a hub, which ends with the test.
func newHub(t testing.TB) *hub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{listener: l, conns: map[net.Conn]struct{}{}, ports: map[string]*server{},
		ensembles: map[string]*ensemble{}}
	h.work.Add(1)
	go h.accept()
	t.Cleanup(h.close)
	return h
}

func (h *hub) addr() string { return h.listener.Addr().String() }

func (h *hub) accept() {
	defer h.work.Done()
	for {
		conn, err := h.listener.Accept()
		if err != nil {
			return
		}
		h.work.Add(1)
		go h.attend(conn)
	}
}

// attend serves a connection, which begins with an opening.
func (h *hub) attend(conn net.Conn) {
	defer h.work.Done()
	defer conn.Close()
	if !h.keep(conn) {
		return
	}
	defer h.forget(conn)
	in := bufio.NewReader(conn)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return // the process was killed before it said anything
	}
	var o opening
	switch err := json.Unmarshal(line, &o); {
	case err != nil:
		fmt.Fprintf(conn, "%v\n", err)
	case o.Server != nil:
		h.run(conn, in, *o.Server, served)
	case o.Args != nil:
		if err := h.host(conn, in, o.Args); err != nil {
			fmt.Fprintf(conn, "%v\n", err)
		}
	default:
		h.serve(begun{conn, in}, o)
	}
}

// serve serves a client of a server.
func (h *hub) serve(client net.Conn, o opening) {
	s, secure := h.at(o.Client)
	if s == nil {
		return
	}
	if o.Secure {
		client = tls.Server(client, secure)
	}
	s.ServeConn(client)
}

// begun is a connection of which a part was read.
type begun struct {
	net.Conn
	in io.Reader
}

func (b begun) Read(p []byte) (int, error) { return b.in.Read(p) }

// run counts a server as one that runs until its process ends.
func (h *hub) run(process net.Conn, in io.Reader, c config, answer string) {
	s, err := h.join(c)
	if err != nil {
		fmt.Fprintf(process, "%v\n", err)
		return
	}
	defer h.leave(s)
	_, _ = io.WriteString(process, answer)
	_, _ = io.Copy(io.Discard, in) // its end is the process's
}

// host runs a server, with the arguments of java, and listens for its clients until the other end closes the
// connection. The answer has its port: clientPort may be 0. Curator's harness asks for this one.
func (h *hub) host(conn net.Conn, in io.Reader, args []string) error {
	c, err := readConfig(args)
	if err != nil {
		return err
	}
	c.Release = zkmem.Release39 // that is what Curator has
	listeners, err := c.listen()
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	if err != nil {
		return err
	}
	_, c.Port, _ = net.SplitHostPort(listeners[0].Addr().String())
	for i, l := range listeners {
		h.work.Add(1)
		go h.welcome(l, opening{Client: c.Port, Secure: i > 0})
	}
	h.run(conn, in, c, c.Port+"\n")
	return nil
}

// welcome serves the clients of a server until nobody listens for them.
func (h *hub) welcome(l net.Listener, o opening) {
	defer h.work.Done()
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		h.work.Add(1)
		go func() {
			defer h.work.Done()
			defer client.Close()
			if h.keep(client) {
				defer h.forget(client)
				h.serve(client, o)
			}
		}()
	}
}

func (h *hub) keep(conn net.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.conns == nil {
		return false
	}
	h.conns[conn] = struct{}{}
	return true
}

func (h *hub) forget(conn net.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, conn)
}

// at returns the server with a clientPort, nil if there is none, and the settings of its secureClientPort.
func (h *hub) at(port string) (*server, *tls.Config) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.ports[port]; s != nil {
		return s, s.secure
	}
	return nil, nil
}

// join starts a server.
func (h *hub) join(c config) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, err := h.find(c)
	if err != nil {
		return nil, err
	}
	if err := s.Restart(); err != nil { // it does nothing if the server runs
		return nil, err
	}
	if c.SecurePort != "" {
		secure, err := c.secure()
		if err != nil {
			return nil, err
		}
		s.secure = secure
	}
	if s.ensemble != nil {
		if err := s.ensemble.Advertise(s.Server, net.JoinHostPort("127.0.0.1", c.Port)); err != nil {
			return nil, err
		}
	}
	h.ports[c.Port] = s
	s.processes++
	return s, nil
}

// leave ends a server.
func (h *hub) leave(s *server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.processes--; s.processes == 0 {
		s.Stop()
	}
}

// find returns a server. If it keeps its data elsewhere than it did, its ensemble is a new one.
func (h *hub) find(c config) (*server, error) {
	e := h.ensembles[c.ensemble()]
	if e == nil || e.servers[c.ID] != nil && e.servers[c.ID].dir != "" && e.servers[c.ID].dir != c.Dir {
		var err error
		if e, err = newEnsemble(c); err != nil {
			return nil, err
		}
		h.ensembles[c.ensemble()] = e
		h.all = append(h.all, e)
	}
	s := e.servers[c.ID]
	if s == nil {
		return nil, fmt.Errorf("myid is %q, and the ensemble has no such server", c.ID)
	}
	s.dir = c.Dir
	return s, nil
}

// newEnsemble returns the servers that a configuration names, which do not run.
func newEnsemble(c config) (*ensemble, error) {
	if len(c.Servers) == 0 {
		s := zkmem.New(c.options())
		s.Stop()
		return &ensemble{map[string]*server{"": {Server: s}}, s.Close}, nil
	}
	all, err := zkmem.NewEnsemble(len(c.Servers), c.options())
	if err != nil {
		return nil, err
	}
	e := &ensemble{map[string]*server{}, all.Close}
	for i, s := range all.Servers() {
		s.Stop()
		id, _, _ := strings.Cut(strings.TrimPrefix(c.Servers[i], "server."), "=")
		e.servers[id] = &server{Server: s, ensemble: all}
	}
	return e, nil
}

func (h *hub) close() {
	h.listener.Close()
	h.mu.Lock()
	for conn := range h.conns {
		conn.Close()
	}
	h.conns = nil
	h.mu.Unlock()
	h.work.Wait()
	for _, e := range h.all {
		e.close()
	}
}
