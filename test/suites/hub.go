//go:build unix

package suites

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// hub serves zkmem for the processes that a suite's harness takes for servers. Servers of one ensemble share one zkmem, which serves
// while a majority of their processes runs.
type hub struct {
	listener net.Listener
	work     sync.WaitGroup

	mu        sync.Mutex
	conns     map[net.Conn]struct{} // of processes and of their clients; nil when the hub has ended
	ports     map[string]*ensemble  // by clientPort
	ensembles map[string]*ensemble
	all       []*ensemble // also those that were replaced
}

// ensemble is the state of servers that have one history. Guarded by hub.mu.
type ensemble struct {
	size, running int
	dirs          map[string]string // by myid: where each keeps its data
	server        *zkmem.Server
}

// newHub starts a hub, which ends with the test.
func newHub(t testing.TB) *hub {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{listener: l, conns: map[net.Conn]struct{}{}, ports: map[string]*ensemble{}, ensembles: map[string]*ensemble{}}
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
		h.run(conn, in, *o.Server)
	default:
		if e := h.at(o.Client); e != nil {
			e.server.ServeConn(begun{conn, in}) // without a majority zkmem is stopped, and closes it immediately
		}
	}
}

// begun is a connection of which a part was read.
type begun struct {
	net.Conn
	in io.Reader
}

func (b begun) Read(p []byte) (int, error) { return b.in.Read(p) }

// run counts a server as one that runs until its process ends.
func (h *hub) run(process net.Conn, in io.Reader, c config) {
	e, err := h.join(c)
	defer h.leave(e)
	if err != nil {
		fmt.Fprintf(process, "%v\n", err)
		return
	}
	_, _ = io.WriteString(process, served)
	_, _ = io.Copy(io.Discard, in) // its end is the process's
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

func (h *hub) at(port string) *ensemble {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ports[port]
}

// join starts a server.
func (h *hub) join(c config) (*ensemble, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.find(c)
	h.ports[c.Port] = e
	e.running++
	if e.hasMajority() {
		return e, e.server.Restart() // does nothing if it serves
	}
	return e, nil
}

// leave ends a server.
func (h *hub) leave(e *ensemble) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.running--
	if !e.hasMajority() {
		e.server.Stop()
	}
}

// find returns the ensemble of a server. If the server keeps its data elsewhere than it did, the ensemble is a new one.
func (h *hub) find(c config) *ensemble {
	e := h.ensembles[c.ensemble()]
	if e == nil || e.dirs[c.ID] != "" && e.dirs[c.ID] != c.Dir {
		e = &ensemble{size: c.size(), dirs: map[string]string{}, server: c.newServer()}
		h.ensembles[c.ensemble()] = e
		h.all = append(h.all, e)
	}
	e.dirs[c.ID] = c.Dir
	return e
}

func (e *ensemble) hasMajority() bool { return e.running > e.size/2 }

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
		e.server.Close()
	}
}
