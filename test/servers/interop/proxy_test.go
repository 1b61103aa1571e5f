package interop

import (
	"net"
	"sync"
	"testing"
)

// proxy stands between a peer and the server, and can become a black hole.
type proxy struct {
	listener net.Listener
	to       string
	traffic  traffic
	all      sync.WaitGroup

	mu    sync.Mutex
	open  chan struct{} // closed while what comes is passed on
	conns []net.Conn
	ended bool
}

func newProxy(t testing.TB, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ok(t, err)
	p := &proxy{listener: l, to: to, open: make(chan struct{})}
	close(p.open)
	p.all.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(near) })
	}
}

func (p *proxy) serve(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer far.Close()
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return
	}
	p.conns = append(p.conns, near, far)
	p.mu.Unlock()
	var both sync.WaitGroup
	sent := frames{count: &p.traffic.requests}
	both.Go(func() { p.pass(near, far, func(b []byte) { p.traffic.up.Add(int64(len(b))); sent.add(b) }) })
	both.Go(func() { p.pass(far, near, func(b []byte) { p.traffic.down.Add(int64(len(b))) }) })
	both.Wait()
}

// pass holds back what comes through a hole, and delivers it late.
func (p *proxy) pass(from, to net.Conn, note func([]byte)) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 64<<10)
	for {
		n, err := from.Read(b)
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		<-open
		if n > 0 {
			note(b[:n])
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// cut ends every connection; new ones are passed on.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// hole stops everything in both directions, until heal.
func (p *proxy) hole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = make(chan struct{})
}

func (p *proxy) heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.open:
	default:
		close(p.open)
	}
}

func (p *proxy) close() {
	p.heal()
	p.listener.Close()
	p.mu.Lock()
	p.ended = true
	for _, c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}
