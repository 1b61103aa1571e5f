package wire

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// stream is one direction of a connection. What is in it arrives when it is due, in order.
type stream struct {
	mu       sync.Mutex
	chunks   []chunk
	closed   bool // by the reader's side
	deadline time.Time
	changed  chan struct{} // has room for one sign: any of this has changed since the reader took the last

	timer *time.Timer // the reader's; nil before it waits for the first time
}

// chunk is a frame, a part of one, or the end.
type chunk struct {
	due  time.Time
	data []byte
	end  bool
	read func() // called when the reader takes the first byte; may be nil
}

func newStream() *stream { return &stream{changed: make(chan struct{}, 1)} }

// change calls f under the lock and wakes the reader.
func (s *stream) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	select {
	case s.changed <- struct{}{}:
	default: // the reader has not taken the sign before
	}
}

// put appends a chunk. It does not overtake what is in the stream.
func (s *stream) put(c chunk) {
	s.change(func() {
		if n := len(s.chunks); n > 0 && !c.due.After(s.chunks[n-1].due) {
			c.due = s.chunks[n-1].due.Add(time.Nanosecond)
		}
		s.chunks = append(s.chunks, c)
	})
}

// step is what one look at a stream gives: bytes, an error, or what to wait for.
type step struct {
	n       int
	err     error
	arrived func()        // to be called, because the first byte of a frame was taken
	wait    time.Duration // until something is due; below 0: until the stream changes
}

// next reads what has arrived.
func (s *stream) next(p []byte) step {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait := time.Duration(-1)
	switch {
	case s.closed:
		return step{err: net.ErrClosed}
	case !s.deadline.IsZero() && !now.Before(s.deadline):
		return step{err: os.ErrDeadlineExceeded}
	case !s.deadline.IsZero():
		wait = s.deadline.Sub(now)
	}
	if len(s.chunks) == 0 {
		return step{wait: wait}
	}
	first := &s.chunks[0]
	if until := first.due.Sub(now); until > 0 {
		if wait < 0 || until < wait {
			wait = until
		}
		return step{wait: wait}
	}
	if first.end {
		return step{err: io.EOF}
	}
	done := step{n: copy(p, first.data), arrived: first.read}
	first.read = nil
	if first.data = first.data[done.n:]; len(first.data) == 0 {
		s.chunks = s.chunks[1:]
	}
	return done
}

// read waits for bytes, the end, the deadline, or the reader's own Close. One goroutine reads at a time.
func (s *stream) read(p []byte) (int, error) {
	for {
		now := s.next(p)
		if now.arrived != nil {
			now.arrived()
		}
		if now.n > 0 || now.err != nil {
			return now.n, now.err
		}
		s.await(now.wait)
	}
}

// await waits until another look at the stream may give something. Only the one goroutine that reads calls it.
func (s *stream) await(wait time.Duration) {
	switch {
	case wait < 0:
		<-s.changed
		return
	case s.timer == nil:
		s.timer = time.NewTimer(wait)
	default:
		s.timer.Reset(wait)
	}
	select {
	case <-s.changed:
	case <-s.timer.C:
	}
	s.timer.Stop()
}

// conn is one end of a connection.
type conn struct {
	in    *stream
	write func([]byte) error
	close func()
	once  sync.Once
	addr  address
}

// address is that of both ends: servers show it.
type address string

func (a address) Network() string { return "memory" }
func (a address) String() string  { return string(a) }

// Read reads what has arrived.
func (c *conn) Read(p []byte) (int, error) { return c.in.read(p) }

// Write never waits: what the network does not pass on lies in the sender's buffer.
func (c *conn) Write(p []byte) (int, error) {
	c.in.mu.Lock()
	closed := c.in.closed
	c.in.mu.Unlock()
	if closed {
		return 0, net.ErrClosed
	}
	if err := c.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends this end. What it has written still arrives.
func (c *conn) Close() error {
	c.once.Do(func() {
		c.in.change(func() { c.in.closed = true })
		c.close()
	})
	return nil
}

// LocalAddr returns the connection's name.
func (c *conn) LocalAddr() net.Addr { return c.addr }

// RemoteAddr returns the connection's name.
func (c *conn) RemoteAddr() net.Addr { return c.addr }

// SetDeadline sets the read deadline: writes do not wait.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline ends waiting reads at a time.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.change(func() { c.in.deadline = t })
	return nil
}

// SetWriteDeadline does nothing: writes do not wait.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
