package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/zkio"
)

// session is a session of ours on one connection. One goroutine uses it, and another may ping.
type session struct {
	ctx      context.Context // of the examination
	address  string
	conn     net.Conn
	settings *Settings
	trying   bool        // requests that the server may not know: it may end the connection
	release  func() bool // from the context
	closed   chan struct{}
	writing  chan struct{} // holds an element while a goroutine writes
	id       int64
	password []byte
	granted  time.Duration
	readOnly bool
	took     time.Duration // for the handshake
	xid      int32
	events   int   // of watches, that nobody has waited for
	zxid     int64 // of the last answer that has one
}

// identity is a session that exists; the zero value is none.
type identity struct {
	id       int64
	password []byte
}

// notOpened is a handshake that the server ended without an answer.
type notOpened struct{ error }

// What one answer may take at most, and that to a handshake, which has 37 bytes: a server is not trusted with our
// memory.
const (
	maxAnswer   = 64 << 20
	maxGreeting = 1 << 10
)

// open opens a session, or takes over one that exists. It presents no credentials.
func (s *Settings) open(ctx context.Context, address string, timeout time.Duration, of identity,
	readOnly bool) (*session, error) {
	if ctx.Err() != nil {
		return nil, cutShort{context.Cause(ctx)}
	}
	conn, err := s.dial(ctx, address)
	if err != nil {
		return nil, err
	}
	c := s.newSession(ctx, address, conn)
	if err := c.handshake(timeout, of, readOnly); err != nil {
		c.cut()
		return nil, ended(ctx, s.plain(err))
	}
	return c, nil
}

func (s *Settings) newSession(ctx context.Context, address string, conn net.Conn) *session {
	return &session{ctx: ctx, address: address, conn: conn, settings: s, closed: make(chan struct{}),
		writing: make(chan struct{}, 1), release: context.AfterFunc(ctx, func() { _ = conn.Close() })}
}

func (c *session) handshake(timeout time.Duration, of identity, readOnly bool) error {
	ms := int32(min(timeout.Milliseconds(), math.MaxInt32))
	password := of.password
	if password == nil {
		password = make([]byte, 16)
	}
	hello := jute.NewFrame().Int32(0).Int64(0).Int32(ms).Int64(of.id).Bytes(password).Bool(readOnly).Finish()
	begun := time.Now()
	err := c.send(hello)
	var answer []byte
	if err == nil {
		answer, err = c.read(maxGreeting)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return notOpened{errors.New("it closed the connection instead of opening a session")}
	}
	if err != nil {
		return err
	}
	c.took = time.Since(begun)
	b := jute.Decoder{Rest: answer}
	if version := b.Int32(); version != 0 {
		return notOpened{fmt.Errorf("it answered with protocol version %d: it does not serve", version)}
	}
	c.granted, c.id, c.password = time.Duration(b.Int32())*time.Millisecond, b.Int64(), b.Bytes()
	c.readOnly = len(b.Rest) > 0 && b.Rest[0] != 0 // older servers do not say it
	switch {
	case b.Bad:
		return errMalformed
	case (c.id == 0 || c.granted <= 0) && of.id == 0:
		return errMalformed
	case c.id == 0 || c.granted <= 0:
		return errExpired
	}
	return nil
}

var errExpired = errors.New("it does not know the session")

// logIn presents who we are: by SASL, then by each credential.
func (c *session) logIn(ctx context.Context, address string) error {
	if c.settings.SASL != nil {
		if err := c.sasl(ctx, address); isCut(err) || silent(err) {
			return err
		} else if err != nil {
			return refusedLogin{err}
		}
	}
	for _, auth := range c.settings.Auth {
		if err := c.send(zkio.AuthFrame(auth)); err != nil {
			return err
		}
		_, code, err := c.answerTo(xidAuth)
		if err == nil && code != codeOK {
			err = refusedLogin{fmt.Errorf("the credential of scheme %s was refused", auth.Scheme)}
		}
		if err != nil {
			return ended(c.ctx, c.settings.plain(err))
		}
	}
	return nil
}

// refusedLogin is an answer that the server does not take our credentials.
type refusedLogin struct{ error }

// maxTokens is how many tokens a login may take: those of ZooKeeper's servers take three at most.
const maxTokens = 16

func (c *session) sasl(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, c.settings.Step)
	defer cancel()
	host, port, _ := net.SplitHostPort(address) // as ParseServers wrote it
	exchange, token, err := c.settings.SASL.Start(ctx, incumbent.SASLServer{Host: host, Port: port,
		Address: c.conn.RemoteAddr().String()})
	for range maxTokens {
		if err != nil {
			return err
		}
		b, code, failed := c.request(opSASL, jute.Frame{}.Bytes(token))
		if isCut(failed) || silent(failed) {
			return failed
		}
		if failed != nil || code != codeOK {
			return errors.Join(failed, errors.New("the login by SASL was refused"))
		}
		done := false
		if token, done, err = exchange.Next(ctx, b.Bytes()); done && err == nil {
			return nil
		}
	}
	return errors.New("the login by SASL did not end")
}

// request sends one request and returns its answer. An error is one of the connection, or that a login is demanded.
func (c *session) request(op int32, body jute.Frame) (b *jute.Decoder, code int32, err error) {
	err = c.requests(op, []jute.Frame{body}, func(_ int, answer *jute.Decoder, with int32) error {
		b, code = answer, with
		return nil
	})
	return b, code, err
}

// inFlight is how many requests wait for their answers at a time.
const inFlight = 64

// requests sends requests of one kind, many before the first answer is there, and takes their answers in order, as far
// as take returns no error.
func (c *session) requests(op int32, bodies []jute.Frame, take func(n int, b *jute.Decoder, code int32) error) error {
	for first := 0; first < len(bodies); first += inFlight {
		batch := bodies[first:min(first+inFlight, len(bodies))]
		var frames []byte
		for n, body := range batch {
			f := append(jute.NewFrame().Int32(c.xid+int32(n)+1).Int32(op), body...)
			frames = append(frames, f.Finish()...)
		}
		err := c.send(frames)
		for n := range batch {
			c.xid++
			var b *jute.Decoder
			code := int32(0)
			if err == nil {
				b, code, err = c.answerTo(c.xid)
			}
			if err := c.failure(op, code, err); err != nil {
				return err
			}
			if err := take(first+n, b, code); err != nil {
				return err
			}
			err = c.conn.SetDeadline(time.Now().Add(c.settings.Step))
		}
	}
	return nil
}

// failure returns why a request has no answer that counts, nil if it has one.
func (c *session) failure(op, code int32, err error) error {
	if err = ended(c.ctx, c.settings.plainOrNil(err)); err != nil {
		if op != opClose && !isCut(err) && (!c.trying || silent(err)) {
			c.settings.failures.note(c.address, err)
		}
		return err
	}
	if code == codeRequiresAuth {
		return refusedLogin{errors.New(strings.TrimPrefix(incumbent.ErrLoginRequired.Error(), "incumbent: "))}
	}
	return nil
}

func (s *Settings) plainOrNil(err error) error {
	if err == nil {
		return nil
	}
	return s.plain(err)
}

// answerTo reads up to the answer with this number. Events of watches on the way are counted.
func (c *session) answerTo(xid int32) (*jute.Decoder, int32, error) {
	for {
		answer, err := c.read(maxAnswer)
		if err != nil {
			return nil, 0, err
		}
		b := &jute.Decoder{Rest: answer}
		number, zxid, code := b.Int32(), b.Int64(), b.Int32()
		switch {
		case b.Bad:
			return nil, 0, errMalformed
		case number == xid:
			if zxid > 0 {
				c.zxid = zxid
			}
			return b, code, nil
		case number == xidPing:
		case number != xidWatch:
			return nil, 0, errMalformed
		default:
			c.events++
		}
	}
}

// awaitEvent waits for the event of a watch, as long as a step may take.
func (c *session) awaitEvent() error {
	if err := c.conn.SetDeadline(time.Now().Add(c.settings.Step)); err != nil {
		return err
	}
	for c.events == 0 {
		answer, err := c.read(maxAnswer)
		if err != nil {
			return ended(c.ctx, c.settings.plain(err))
		}
		if b := (&jute.Decoder{Rest: answer}); b.Int32() == xidWatch {
			c.events++
		}
	}
	c.events = 0
	return nil
}

// send begins a step: what follows up to the answer has the time for one.
func (c *session) send(message []byte) error {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	if err := c.conn.SetDeadline(time.Now().Add(c.settings.Step)); err != nil {
		return err
	}
	_, err := c.conn.Write(message)
	return c.settings.plainOrNil(err)
}

// read reads a message of so many bytes at most.
func (c *session) read(most uint32) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(c.conn, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n > most {
		return nil, errMalformed
	}
	answer, err := io.ReadAll(io.LimitReader(c.conn, int64(n))) // grows with what comes
	if err == nil && len(answer) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	return answer, err
}

// close ends the session at the ensemble, and the connection. If the context has ended, the connection is gone: then
// the session is taken over once more for that.
func (c *session) close() {
	_, _, err := c.request(opClose, nil) // if it fails, the session ends by its timeout
	c.cut()
	if err == nil || c.ctx.Err() == nil {
		return
	}
	late, of := c.settings.late, identity{c.id, c.password}
	if again, err := c.settings.open(late, c.address, c.granted, of, false); err == nil {
		_, _, _ = again.request(opClose, nil) // as above
		again.cut()
	}
}

// keepAlive pings, so that the session does not end while an answer of this or of another session is waited for. A
// server that demands a login ends a connection that pings before it.
func (c *session) keepAlive() {
	tick := time.NewTicker(max(c.granted/3, shortestPing))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if c.ping() != nil {
				return // the next answer that is waited for says so
			}
		case <-c.closed:
			return
		}
	}
}

// ping lets the time of a step that goes on as it is.
func (c *session) ping() error {
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	if err := c.conn.SetWriteDeadline(time.Now().Add(c.settings.Step)); err != nil {
		return err
	}
	_, err := c.conn.Write(jute.NewFrame().Int32(xidPing).Int32(opPing).Finish())
	return err
}

// shortestPing is how often a session pings at most: a server is not trusted to grant a sensible timeout.
const shortestPing = 50 * time.Millisecond

// cut ends the connection; the session goes on for its timeout.
func (c *session) cut() {
	close(c.closed)
	c.release()
	_ = c.conn.Close()
}
