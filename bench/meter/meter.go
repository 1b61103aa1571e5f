// Package meter is a TCP proxy that counts what clients send and receive: requests and bytes. It is slower than no
// proxy, so nothing is timed through it.
package meter

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// Meter listens on an address of its own and connects every connection there to its target.
type Meter struct {
	listener net.Listener
	target   string
	framing  func() Framing
	all      sync.WaitGroup
	requests atomic.Int64
	bytes    atomic.Int64

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// New returns a meter of connections to target, host:port.
func New(target string, framing func() Framing) (*Meter, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Meter{listener: listener, target: target, framing: framing, open: map[net.Conn]bool{}}
	m.all.Go(m.accept)
	return m, nil
}

// Addr returns the address to dial instead of the target's.
func (m *Meter) Addr() string { return m.listener.Addr().String() }

// Count returns how many requests clients have sent, and how many bytes went both ways, since the meter began.
func (m *Meter) Count() (requests, bytes int64) { return m.requests.Load(), m.bytes.Load() }

// Close ends all connections, and returns when its goroutines have ended.
func (m *Meter) Close() {
	m.listener.Close()
	m.mu.Lock()
	m.closed = true
	for c := range m.open {
		c.Close()
	}
	m.mu.Unlock()
	m.all.Wait()
}

// keep adds a connection to those that Close ends. It reports false, and ends it, if that has happened.
func (m *Meter) keep(c net.Conn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		c.Close()
		return false
	}
	m.open[c] = true
	return true
}

func (m *Meter) end(c net.Conn) {
	c.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, c)
}

func (m *Meter) accept() {
	for {
		near, err := m.listener.Accept()
		if err != nil {
			return
		}
		m.all.Go(func() { m.join(near) })
	}
}

func (m *Meter) join(near net.Conn) {
	defer m.end(near)
	far, err := net.Dial("tcp", m.target)
	if err != nil || !m.keep(near) || !m.keep(far) {
		return
	}
	defer m.end(far)
	var back sync.WaitGroup
	back.Go(func() {
		io.Copy(near, &counted{from: far, meter: m})
		near.Close()
	})
	io.Copy(far, &counted{from: near, meter: m, framing: m.framing()})
	far.Close()
	back.Wait()
}

// counted is one direction: everything that is read from it is counted before it is passed on.
type counted struct {
	from    io.Reader
	meter   *Meter
	framing Framing // nil from a server
}

// Read reads and counts.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.meter.bytes.Add(int64(n))
	if c.framing != nil {
		c.meter.requests.Add(int64(c.framing.Feed(p[:n])))
	}
	return n, err
}
