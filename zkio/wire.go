package zkio

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/jute"
)

// wire is one connection, between the keeper and the socket. It is the net.Conn of the keeper.
//
// The first Write is the connect request; from then on every Write is exactly one frame, a ping or
// the close; Read is called from one goroutine. Writes come from the goroutine that reads until
// the handshake is over, later from another one.
type wire struct {
	net.Conn
	s      *session
	server string
	in     *bufio.Reader
	head   [jute.LengthSize + headerSize]byte // of the answer that is being read,
	buf    []byte                             // and its body
	out    []byte                             // what the keeper has not read yet of its frame

	target      *target       // the server
	address     string        // of the server, "" if it is not known
	dialledAt   int64         // when the attempt to connect began
	bound       time.Duration // how long the server may be silent until its first answer
	deadline    time.Time     // when the handshake has to have ended
	offeredID   int64         // session id in the connect request; 0 asks for a new session
	since       int64         // last zxid seen before this connection
	sasl        *login        // nil: there is none
	loggingIn   bool          // the connection ended, or was silent, while an answer to a token was awaited
	probe       bool          // the connect request claims to have seen nothing
	connectSent bool          // the connect request was written
	armed       int           // watches set again in the handshake,
	fired       int           // and watch events that came before its end
	// the server is ZooKeeper 3.9 or later, as its watch events show: it keeps watches of different modes apart
	separates bool
	optional  []int32 // requests for features, in order; those at the front may be answered
	noLogin   bool    // the last answer said that the server demands a login: it then closes the connection
	// the answer to the connect request had no flag for read-only servers, as ClickHouse Keeper's
	unflagged  bool
	handshaken bool          // the handshake has ended; limitRead and limitWrite set the deadlines
	closeXid   int32         // of the close request, once seen, xidNone before; guarded by session.mu
	patience   time.Duration // the longest read or write once the handshake is over
	writer     writer

	mu     sync.Mutex
	reason error // why it ended, if the socket's own error would not say
	ended  bool  // guarded by session.mu

	contacts  contacts // guarded by session.mu once the handshake is over
	checkedAt int64    // when overdue ran last; guarded by session.mu
}

var (
	errProtocol = errors.New("this is not ZooKeeper's protocol")
	errOver     = errors.New("the session is over")
	errSilent   = errors.New("silent for too long")
	errClosed   = errors.New("closed by the server")
	errBroken   = errors.New("the connection is to end")
)

// errLogin is why a server closed a connection after it had answered so: to any request, or to a ping.
var errLogin = refusal{events.RequiresSASL, string(events.RequiresSASL) + ": the server demands a login " +
	"(enforce.auth.enabled, sessionRequireClientSASLAuth: set Config.SASL, or Config.Auth), and closed the connection"}

func newWire(conn net.Conn, s *session, server string) *wire {
	return &wire{Conn: conn, s: s, server: server, in: bufio.NewReaderSize(conn, 4096), closeXid: xidNone,
		writer: newWriter()}
}

// Write writes one frame of the keeper to the socket. While the loop stands still, it waits. It
// never returns an error: only Read reports the end of the connection.
func (w *wire) Write(b []byte) (int, error) {
	if w.connectSent && isPing(b) {
		w.s.a.signs.request(w.s.a.cfg.Now())
	}
	w.s.awaitLoop()
	w.writer.take()
	defer w.writer.free()
	if !w.connectSent {
		w.connectSent = true
		now := w.s.a.cfg.Now()
		w.contacts.note(now, now)
		w.since, w.probe = w.s.zxid(w.server)
		claimed := w.since
		if w.probe {
			claimed = 0
		}
		w.offeredID = patchConnect(b, claimed)
		w.limitGreeting()
		w.putConnect(b)
		return len(b), nil
	}
	w.s.noteFrame(w, b)
	_ = w.put(b)
	return len(b), nil
}

// put writes whole frames to the socket. The writer was taken. An error ends the
// connection. Nothing is written after it: the server would take it for the rest of a frame
// that was written in part.
func (w *wire) put(frames []byte) error {
	if w.broken() {
		return errBroken
	}
	if w.handshaken {
		w.limitWrite()
	}
	_, err := w.Conn.Write(frames)
	if err != nil {
		w.breakOff(err)
	}
	return err
}

// putConnect writes the connect request. If the server has closed the connection before, Read goes on for
// drainTimeout, and says why: an alert of TLS may be there to be read, and a server that is full says nothing.
func (w *wire) putConnect(frame []byte) {
	if w.broken() {
		return
	}
	_, err := w.Conn.Write(frame)
	var timeout net.Error
	switch {
	case err == nil:
	case errors.As(err, &timeout) && timeout.Timeout():
		w.breakOff(err)
	default:
		time.AfterFunc(drainTimeout, func() { _ = w.Conn.Close() })
	}
}

// isPing reports whether a frame after the connect request is a ping.
func isPing(frame []byte) bool {
	b := jute.Decoder{Rest: frame[jute.LengthSize:]}
	b.Int32() // the xid
	return b.Int32() == opPing
}

// drainTimeout is for how long answers are still read after a write has failed.
const drainTimeout = 100 * time.Millisecond

// breakOff ends a connection on which a write failed. A server that closed the connection may
// have sent the reason before: an old server answers a request that it does not know, and closes
// the connection. So Read goes on for drainTimeout, until it has read what was sent.
func (w *wire) breakOff(reason error) {
	if w.setReason(reason) {
		time.AfterFunc(drainTimeout, func() { _ = w.Conn.Close() })
	}
}

// patchConnect writes claimed into a connect request as the last zxid seen, and returns the
// session id that the request asks for.
func patchConnect(b []byte, claimed int64) (asked int64) {
	const at = jute.LengthSize + 4 // after the protocol version
	if len(b) < at+8+4+8 {
		return 0
	}
	binary.BigEndian.PutUint64(b[at:], uint64(claimed))
	return int64(binary.BigEndian.Uint64(b[at+8+4:]))
}

// Read gives the keeper the bytes of the next frame that is for it. Before the first of them
// it has read the whole frame and posted its events. After an error it has closed the socket.
func (w *wire) Read(b []byte) (int, error) {
	if len(w.out) == 0 {
		if err := w.next(); err != nil {
			w.s.ended(w, w.why(err)) // before Close, which lets a Write go on and fail
			_ = w.Close()
			return 0, err
		}
	}
	n := copy(b, w.out)
	w.out = w.out[n:]
	return n, nil
}

// next reads frames until one is for the keeper.
func (w *wire) next() error {
	if !w.handshaken {
		return w.handshake()
	}
	for {
		if !w.buffered() {
			w.limitRead()
		}
		a, err := w.readAnswer()
		if err != nil {
			return err
		}
		if w.out, err = w.s.receive(w, a); err != nil || w.out != nil {
			return err
		}
	}
}

// buffered reports whether the whole next frame was read from the socket already.
func (w *wire) buffered() bool {
	n := w.in.Buffered() - jute.LengthSize
	if n < 0 {
		return false
	}
	length, err := w.in.Peek(jute.LengthSize)
	return err == nil && n >= int(int32(binary.BigEndian.Uint32(length)))
}

// readAnswer reads one whole frame. It skips a body that is larger than Config.MaxAnswer.
func (w *wire) readAnswer() (answer, error) {
	head := w.head[:]
	if _, err := io.ReadFull(w.in, head[:jute.LengthSize]); err != nil {
		return answer{}, err
	}
	size := int64(int32(binary.BigEndian.Uint32(head))) - headerSize
	if size < 0 {
		return answer{}, errProtocol
	}
	if _, err := io.ReadFull(w.in, head[jute.LengthSize:]); err != nil {
		return answer{}, err
	}
	a := parseAnswer(head[jute.LengthSize:])
	if size > int64(w.s.a.cfg.MaxAnswer) {
		a.tooLarge = true
		_, err := io.CopyN(io.Discard, w.in, size)
		return a, err
	}
	a.body.Rest = w.bodyBuffer(int(size))
	_, err := io.ReadFull(w.in, a.body.Rest)
	return a, err
}

// bodyBuffer returns a buffer for one body of so many bytes. A large buffer is not kept.
func (w *wire) bodyBuffer(size int) []byte {
	const keep = 64 << 10
	if size > keep {
		return make([]byte, size)
	}
	if size > cap(w.buf) {
		w.buf = make([]byte, max(size, 512))
	}
	return w.buf[:size]
}

// fail ends the connection for a reason of this side. Read reports it to the session.
func (w *wire) fail(reason error) {
	w.setReason(reason)
	_ = w.Conn.Close()
}

// setReason notes why the connection ends, and reports whether no reason was known before.
func (w *wire) setReason(reason error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reason != nil {
		return false
	}
	w.reason = reason
	return true
}

// broken reports whether the connection is to end: nothing more is written then.
func (w *wire) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reason != nil
}

// why returns the reason of the end of the connection as an error.
func (w *wire) why(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var timeout net.Error
	switch {
	case w.reason != nil:
		err = w.reason
	case errors.Is(err, errOver):
		return err
	case w.noLogin:
		err = errLogin
	case errors.As(err, &timeout) && timeout.Timeout():
		err = errSilent
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errClosed
	}
	if w.loggingIn {
		err = fmt.Errorf("in %s: %w", w.s.loginText(""), err)
	}
	return fmt.Errorf("%s: %w", w.server, err)
}
