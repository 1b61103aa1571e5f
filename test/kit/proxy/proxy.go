// Package proxy is a TCP link between two processes of a test that can fail like a network: it can go silent one way or
// both, be slow, be cut so that both ends see it, or so that only one does.
//
// A direction that is silent keeps what is sent and delivers it after Heal, in order, like a network that retransmits.
// Nothing is lost or invented. Unlike on a real network, a connection that is begun while the link is silent is
// accepted, and then receives nothing.
package proxy

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// Direction is one way through a link: Forth from the dialling process, Back to it.
type Direction int

// The directions.
const (
	Forth Direction = iota
	Back
)

// maxPieces is how many pieces may be in transit in a direction; the sender's and the receiver's kernels have more.
const maxPieces = 256

// dialTimeout is how long a target may take to listen.
const dialTimeout = 2 * time.Second

// Link listens on its own address and connects every connection there to its target.
type Link struct {
	listener net.Listener
	target   string
	swap     func([]byte) []byte
	ways     [2]*way
	all      sync.WaitGroup

	mu      sync.Mutex
	pairs   map[*pair]bool
	refuses bool
	closed  bool
}

// pair is a connection and the one to the target; bytes that go forth come from [Forth].
type pair [2]net.Conn

// Option changes a link from the beginning.
type Option func(*Link)

// Rewrite has f change the first piece of every connection that goes forth: for protocols whose greeting holds an
// address.
func Rewrite(f func([]byte) []byte) Option { return func(l *Link) { l.swap = f } }

// New returns a link to a target, host:port, which need not listen yet.
func New(target string, options ...Option) (*Link, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Link{listener: listener, target: target, ways: [2]*way{newWay(), newWay()}, pairs: map[*pair]bool{}}
	for _, o := range options {
		o(l)
	}
	l.all.Go(l.accept)
	return l, nil
}

// Addr returns the address to dial instead of the target's.
func (l *Link) Addr() string { return l.listener.Addr().String() }

// Silence keeps everything that is sent this way from now on, also the ends of connections. Neither end sees it.
func (l *Link) Silence(d Direction) { l.ways[d].set(func(w *way) { w.silent = true }) }

// Delay has everything that is sent this way from now on arrive later, by this duration.
func (l *Link) Delay(d Direction, by time.Duration) { l.ways[d].set(func(w *way) { w.delay = by }) }

// Cut ends every connection, so that both ends see it, and refuses new ones.
func (l *Link) Cut() {
	for _, p := range l.refuse() {
		reset(p[Forth])
		reset(p[Back])
	}
}

// CutOneEnd ends every connection at its target's end or, with Forth, at the dialling end, and refuses new ones. The
// other end does not see it: it only receives nothing any more.
func (l *Link) CutOneEnd(end Direction) {
	l.Silence(Forth)
	l.Silence(Back)
	for _, p := range l.refuse() {
		reset(p[end])
	}
}

func (l *Link) refuse() (open []*pair) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuses = true
	for p := range l.pairs {
		open = append(open, p)
	}
	return open
}

// Heal ends Silence, Delay, Cut and CutOneEnd. What was kept is delivered.
func (l *Link) Heal() {
	l.mu.Lock()
	l.refuses = false
	l.mu.Unlock()
	for _, w := range l.ways {
		w.set(func(w *way) { w.silent, w.delay = false, 0 })
	}
}

// Open returns the number of connections.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pairs)
}

// Close ends the link and returns when all its goroutines have ended. What was kept is not delivered.
func (l *Link) Close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.listener.Close()
	for _, p := range l.refuse() {
		reset(p[Forth])
		reset(p[Back])
	}
	for _, w := range l.ways { // after the resets: what is kept must not arrive now
		w.set(func(w *way) { w.over = true })
	}
	l.all.Wait()
}

func (l *Link) accept() {
	for {
		near, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.all.Go(func() { l.join(near) })
	}
}

// join dials the target for a connection, and carries bytes until both ways are over.
func (l *Link) join(near net.Conn) {
	l.mu.Lock()
	refused := l.refuses
	l.mu.Unlock()
	if refused {
		reset(near)
		return
	}
	far, err := l.dial()
	if err != nil {
		reset(near)
		return
	}
	p := &pair{near, far}
	l.mu.Lock()
	l.pairs[p] = true
	refused = l.refuses
	l.mu.Unlock()
	if refused { // since it was dialled
		reset(near)
		reset(far)
	}
	var both sync.WaitGroup
	both.Go(func() { l.carry(p, Forth) })
	both.Go(func() { l.carry(p, Back) })
	both.Wait()
	near.Close()
	far.Close()
	l.mu.Lock()
	delete(l.pairs, p)
	l.mu.Unlock()
}

// dial dials the target again and again for a while: the dialling process was accepted before we know whether there is
// a target, and must not see a target that is about to listen as one that closed the connection.
func (l *Link) dial() (net.Conn, error) {
	ticker := time.NewTicker(dialTimeout / 100)
	defer ticker.Stop()
	for end := time.Now().Add(dialTimeout); ; <-ticker.C { // pause: between tries to dial
		far, err := net.DialTimeout("tcp", l.target, dialTimeout)
		l.mu.Lock()
		over := l.closed || l.refuses
		l.mu.Unlock()
		if err == nil || over || time.Now().After(end) {
			return far, err
		}
	}
}

// carry copies bytes one way. When the sender has closed its side, the receiver's is closed after the way's delay and
// silence. A write that fails ends the whole connection; the sender sees that after the silence of the way back.
func (l *Link) carry(p *pair, d Direction) {
	from, to, w := p[d], p[1-d], l.ways[d]
	pieces := make(chan piece, maxPieces)
	go func() {
		defer close(pieces)
		buf := make([]byte, 32<<10)
		for first := true; ; first = false {
			n, err := from.Read(buf)
			if n > 0 {
				data := bytes.Clone(buf[:n])
				if first && d == Forth && l.swap != nil {
					data = l.swap(data)
				}
				pieces <- piece{data, w.due()}
			}
			if err != nil {
				return
			}
		}
	}()
	for sent := range pieces {
		w.await(sent.due)
		if _, err := to.Write(sent.data); err != nil {
			l.ways[1-d].await(time.Time{})
			reset(from)
			for range pieces { // its reader ends now
			}
			return
		}
	}
	w.await(w.due())
	if c, ok := to.(*net.TCPConn); ok {
		c.CloseWrite()
	}
}

// reset ends a connection with RST: its other end gets an error, as if a process was killed.
func reset(c net.Conn) {
	if c, ok := c.(*net.TCPConn); ok {
		c.SetLinger(0)
	}
	c.Close()
}
