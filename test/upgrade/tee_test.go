package upgrade

import (
	"encoding/binary"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tee listens for one agent, connects it with the server, and keeps what it asks for.
type tee struct {
	listener net.Listener
	target   string
	all      sync.WaitGroup

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
	asked  []*asked
	more   chan struct{} // closed and replaced when something is answered
}

// asked is one request.
type asked struct {
	text     string
	addr     string // where the server sees it come from
	xid      int32
	answered bool
	lost     bool // carried out, and the connection ended
}

func newTee(t testing.TB, target string) *tee {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	e := &tee{listener: listener, target: target, more: make(chan struct{})}
	e.all.Go(e.accept)
	t.Cleanup(e.close)
	return e
}

func (e *tee) addr() string { return e.listener.Addr().String() }

func (e *tee) accept() {
	for {
		client, err := e.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", e.target)
		if err != nil || !e.keep(client, server) {
			client.Close()
			continue
		}
		addr := server.LocalAddr().String()
		e.all.Go(func() { forward(server, client, func(frame []byte) { e.note(addr, frame) }) })
		e.all.Go(func() { forward(client, server, func(frame []byte) { e.settle(addr, frame) }) })
	}
}

// keep keeps connections for close. It returns false if that was called before.
func (e *tee) keep(conns ...net.Conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.conns = append(e.conns, conns...)
	return !e.closed
}

func (e *tee) close() {
	e.listener.Close()
	e.mu.Lock()
	e.closed = true
	for _, c := range e.conns {
		c.Close()
	}
	e.mu.Unlock()
	e.all.Wait()
}

// forward passes whole frames on. It calls see with each but the handshake, before that.
func forward(to, from net.Conn, see func([]byte)) {
	defer to.Close()
	for first := true; ; first = false {
		head := make([]byte, 4)
		if _, err := io.ReadFull(from, head); err != nil {
			return
		}
		size := binary.BigEndian.Uint32(head)
		if size < 4 || size > 1<<20 {
			return
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(from, frame); err != nil {
			return
		}
		if !first {
			see(frame)
		}
		if _, err := to.Write(append(head, frame...)); err != nil {
			return
		}
	}
}

func xid(frame []byte) int32 { return int32(binary.BigEndian.Uint32(frame)) }

// note keeps a request. Pings are only about time, and a client that connects again sets those watches again whose events it had
// not read: that is about time, too.
func (e *tee) note(addr string, frame []byte) {
	text := sentence(frame)
	if text == "ping" || text == "setWatches" {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, &asked{text: text, addr: addr, xid: xid(frame)})
}

// settle finds the request of an answer.
func (e *tee) settle(addr string, frame []byte) {
	e.mark(addr, xid(frame), func(a *asked) { a.answered = true })
}

// mark changes a request that has no answer.
func (e *tee) mark(addr string, xid int32, change func(*asked)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.asked {
		if a.addr == addr && a.xid == xid && !a.answered {
			change(a)
			close(e.more)
			e.more = make(chan struct{})
			return
		}
	}
}

// await waits until n requests that are this one, or begin with it, have been answered.
func (e *tee) await(t testing.TB, n int, text string) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	for {
		e.mu.Lock()
		count, more := 0, e.more
		for _, a := range e.asked {
			if a.answered && strings.HasPrefix(a.text, text) {
				count++
			}
		}
		e.mu.Unlock()
		if count >= n {
			return
		}
		select {
		case <-more:
		case <-deadline.C:
			t.Fatalf("%d of %d requests %q were answered, of\n%s", count, n, text, strings.Join(e.requests(), "\n"))
		}
	}
}

// requests returns what the server has carried out or refused. What was on its way when a connection ended is left out: how much
// that is depends on time. An agent that closes its session does not wait for the answer.
func (e *tee) requests() (all []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.asked {
		if a.answered || a.lost || a.text == "closeSession" {
			all = append(all, a.text)
		}
	}
	return all
}

// dialled reports whether an open connection of this tee has that address at its own end.
func (e *tee) dialled(addr string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return addr != "" && slices.ContainsFunc(e.conns, func(c net.Conn) bool { return c.LocalAddr().String() == addr })
}
