//go:build !js

package zkmem

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/incumbent-go/incumbent/internal/digestmd5"
)

// conn is one client's connection: a reader (the goroutine of ServeConn), which serves the requests, and a writer.
type conn struct {
	srv  *Server
	nc   net.Conn
	id   atomic.Int64 // the session's, for the hooks
	left [2]atomic.Int64
	done chan struct{} // closed when the connection is cut
	once sync.Once

	// Guarded by Server.mu.
	session  *session
	auth     []Auth
	login    *digestmd5.Server // nil before its first token
	detached bool
	use      use
	queue    []*packet     // at a member of an ensemble: requests that are not answered yet
	room     chan struct{} // closed when the queue has room again; nil if nobody waits for that
	ended    bool          // the last reply is on its way

	outMu   sync.Mutex
	out     [][]byte
	pending int // bytes in out or being written
	last    bool
	wake    chan struct{}
	flushed chan struct{} // closed when the writer has ended
}

const unlimited = -1

func newConn(s *Server, nc net.Conn) *conn {
	c := &conn{srv: s, nc: nc, done: make(chan struct{}), wake: make(chan struct{}, 1), flushed: make(chan struct{})}
	c.use.begun = time.Now()
	c.left[Inbound].Store(unlimited)
	c.left[Outbound].Store(unlimited)
	if host := hostOf(nc.RemoteAddr()); host != "" {
		c.auth = []Auth{{"ip", host}}
	}
	return c
}

func hostOf(addr net.Addr) string {
	if addr == nil {
		return ""
	}
	if host, _, err := net.SplitHostPort(addr.String()); err == nil {
		return host
	}
	return addr.String()
}

// attach binds the connection to a session. Under Server.mu.
func (c *conn) attach(session *session) {
	c.session = session
	c.id.Store(session.id)
}

// cut ends the connection immediately; what was not written is lost.
func (c *conn) cut() {
	c.once.Do(func() {
		close(c.done)
		c.nc.Close()
	})
}

// finish ends the connection when everything queued is written.
func (c *conn) finish() {
	c.outMu.Lock()
	c.last = true
	c.outMu.Unlock()
	c.nc.SetWriteDeadline(time.Now().Add(c.srv.opts.HandshakeTimeout))
	c.wakeWriter()
}

func (c *conn) wakeWriter() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// send queues a frame. A reader too slow for MaxOutbound is cut off.
func (c *conn) send(frame []byte) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	if c.last {
		return
	}
	c.out = append(c.out, frame)
	c.pending += len(frame)
	if c.pending > c.srv.opts.MaxOutbound {
		c.last = true
		c.cut()
		return
	}
	c.wakeWriter()
}

// unnumbered is the zxid of a watch event that does not name its transaction.
const unnumbered = -1

// sendWatchEvent sends a watch event of the transaction with this zxid. Before 3.9 no event says it.
func (c *conn) sendWatchEvent(zxid int64, event Event) {
	if c.srv.old() {
		zxid = unnumbered
	}
	e := newFrame()
	e.replyHeader(-1, zxid, OK)
	e.int32(int32(event.Type))
	e.int32(3) // the client is connected
	e.text(event.Path)
	c.send(e.frame())
	c.use.sent++
	c.srv.sent++
}

// batch takes what is queued; last reports that nothing will follow.
func (c *conn) batch() (frames [][]byte, last bool) {
	c.outMu.Lock()
	defer c.outMu.Unlock()
	frames, c.out = c.out, nil
	return frames, c.last
}

func (c *conn) written(n int) {
	c.outMu.Lock()
	c.pending -= n
	c.outMu.Unlock()
}

// write is the function of the writer goroutine.
func (c *conn) write() {
	defer c.srv.work.Done()
	defer close(c.flushed)
	defer c.cut()
	var buf []byte
	for {
		frames, last := c.batch()
		buf = buf[:0]
		for _, frame := range frames {
			buf = append(buf, frame...)
		}
		if len(buf) > 0 && (!c.srv.hooks.pass(c, Outbound) || !c.put(buf)) {
			return
		}
		c.written(len(buf))
		if cap(buf) > 1<<16 {
			buf = nil
		}
		if last {
			return
		}
		select {
		case <-c.wake:
		case <-c.done:
			return
		}
	}
}

// put writes as many bytes as the hooks let pass.
func (c *conn) put(buf []byte) bool {
	n := c.allow(Outbound, len(buf))
	_, err := c.nc.Write(buf[:n])
	return err == nil && n == len(buf) && c.left[Outbound].Load() != 0
}

// Read reads from the client as many bytes as the hooks let pass.
func (c *conn) Read(p []byte) (int, error) {
	if c.left[Inbound].Load() == 0 {
		return 0, io.EOF
	}
	n, err := c.nc.Read(p)
	if n = c.allow(Inbound, n); n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// allow returns how many of n bytes may pass.
func (c *conn) allow(dir Direction, n int) int {
	for {
		left := c.left[dir].Load()
		if left == unlimited {
			return n
		}
		n = int(min(int64(n), left))
		if c.left[dir].CompareAndSwap(left, left-int64(n)) {
			return n
		}
	}
}

// ServeConn serves one connection and returns when it has ended. It works with [net.Pipe] too, also within
// testing/synctest.
func (s *Server) ServeConn(nc net.Conn) {
	c := newConn(s, nc)
	if !s.admit(c) {
		nc.Close()
		return
	}
	defer s.work.Done()
	go c.write()
	c.serve()
	c.finish()
	s.leave(c, s.detach)
	<-c.flushed
	s.leave(c, s.drop)
}

func (s *Server) leave(c *conn, how func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(c)
	s.notify()
}

func (s *Server) admit(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped || len(s.conns) >= s.opts.MaxConnections || !s.hooks.admit(c) {
		return false
	}
	s.conns[c] = struct{}{}
	s.work.Add(2)
	s.notify()
	return true
}

// drop cuts a connection and removes its watches and its session. Under Server.mu.
func (s *Server) drop(c *conn) {
	c.cut()
	s.detach(c)
	delete(s.conns, c)
}

// hangUp ends a connection when everything queued is written. Under Server.mu.
func (s *Server) hangUp(c *conn) {
	s.detach(c)
	c.finish()
}

// detach removes a connection's watches and session from it. Under Server.mu.
func (s *Server) detach(c *conn) {
	c.detached = true
	s.watches.Drop(c)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
}

func (c *conn) serve() {
	c.nc.SetReadDeadline(time.Now().Add(c.srv.opts.HandshakeTimeout))
	id, ok := identify(c.nc, c.srv.opts.HandshakeTimeout)
	if !ok {
		c.drain()
		return
	}
	c.srv.mu.Lock()
	if id.ID != "" {
		c.addAuth(id)
	}
	c.srv.mu.Unlock()
	r := bufio.NewReader(c)
	if !c.readFirstFrame(r) {
		return
	}
	c.nc.SetReadDeadline(time.Time{})
	for {
		frame, err := c.next(r)
		if err != nil || !c.srv.hooks.pass(c, Inbound) {
			return
		}
		request, ok := decodeRequest(frame, c.srv.opts.Release)
		if !ok || !c.srv.serve(c, request) {
			return
		}
	}
}

// drain reads what a client still sends that TLS has refused, until it closes or HandshakeTimeout is over. The client
// got an alert with the reason: a close while bytes of the client are unread may destroy it.
func (c *conn) drain() {
	raw := c.nc.(*tls.Conn).NetConn()
	if half, ok := raw.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		io.Copy(io.Discard, raw)
	}
}

func (c *conn) next(r io.Reader) ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	return readFrame(r, prefix, c.srv.opts.MaxFrame)
}

// readFirstFrame reads the first frame: a handshake, or a four-letter word.
func (c *conn) readFirstFrame(r io.Reader) bool {
	var prefix [4]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil || !c.srv.hooks.pass(c, Inbound) {
		return false
	}
	if answer, ok := c.srv.fourLetters(c, string(prefix[:])); ok {
		c.send([]byte(answer))
		c.srv.countWord()
		return false
	}
	frame, err := readFrame(r, prefix, c.srv.opts.MaxFrame)
	if err != nil {
		return false
	}
	h, ok := decodeHandshake(frame)
	return ok && c.srv.serveHandshake(c, h)
}
