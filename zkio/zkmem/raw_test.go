package zkmem

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

// rawClient speaks the protocol by hand over any connection.
type rawClient struct {
	t       testing.TB
	nc      net.Conn
	session int64
	secret  []byte
	timeout int32
	xid     int32
	zxid    int64 // of the last reply
}

// overPipe connects a raw client by net.Pipe; it has no session yet.
func overPipe(t testing.TB, s *Server) *rawClient {
	t.Helper()
	client, server := net.Pipe()
	go s.ServeConn(server)
	t.Cleanup(func() { client.Close() })
	return &rawClient{t: t, nc: client}
}

// newSession returns a raw client with a new session.
func newSession(t testing.TB, s *Server, timeout time.Duration) *rawClient {
	t.Helper()
	c := overPipe(t, s)
	c.introduce(0, nil, timeout)
	if c.session == 0 {
		t.Fatal("no session")
	}
	return c
}

// again connects once more and offers the session of c; the new client's session is 0 if it
// was refused.
func (c *rawClient) again(s *Server) *rawClient {
	c.t.Helper()
	next := overPipe(c.t, s)
	next.introduce(c.session, c.secret, time.Duration(c.timeout)*time.Millisecond)
	return next
}

func (c *rawClient) introduce(session int64, secret []byte, timeout time.Duration) {
	c.t.Helper()
	e := newFrame()
	e.int32(0)
	e.int64(0)
	e.int32(milliseconds(timeout))
	e.int64(session)
	e.bytes(secret)
	e.bool(false)
	c.nc.Write(e.frame())
	frame, err := c.read()
	if err != nil {
		return
	}
	d := &decoder{buf: frame}
	d.int32()
	c.timeout, c.session, c.secret = d.int32(), d.int64(), d.bytes()
}

func (c *rawClient) read() ([]byte, error) {
	var prefix [4]byte
	if _, err := io.ReadFull(c.nc, prefix[:]); err != nil {
		return nil, err
	}
	return readFrame(c.nc, prefix, 1<<24)
}

func (c *rawClient) send(op OpCode, body func(*encoder)) int32 {
	c.xid++
	e := newFrame()
	e.int32(c.xid)
	e.int32(int32(op))
	if body != nil {
		body(e)
	}
	c.nc.Write(e.frame())
	return c.xid
}

var errUnexpected = errors.New("not the reply that was awaited")

// ask sends a request and returns its reply's code and body; a watch event before it is
// errUnexpected.
func (c *rawClient) ask(op OpCode, body func(*encoder)) (Code, *decoder, error) {
	xid := c.send(op, body)
	return c.reply(xid)
}

func (c *rawClient) reply(xid int32) (Code, *decoder, error) {
	frame, err := c.read()
	if err != nil {
		return 0, nil, err
	}
	d := &decoder{buf: frame}
	if got := d.int32(); got != xid && got != -2 {
		return 0, nil, errUnexpected
	}
	c.zxid = d.int64()
	return Code(d.int32()), d, nil
}

func create(path string, mode Mode) func(*encoder) {
	return func(e *encoder) {
		e.text(path)
		e.bytes(nil)
		e.acls(OpenACL())
		e.int32(int32(mode))
	}
}

func read(path string, watch bool) func(*encoder) {
	return func(e *encoder) { e.text(path); e.bool(watch) }
}

// mustCreate returns the path of the created node.
func (c *rawClient) mustCreate(path string, mode Mode) string {
	c.t.Helper()
	code, d, err := c.ask(OpCreate, create(path, mode))
	if err != nil || code != OK {
		c.t.Fatalf("create %s: %v %v", path, code, err)
	}
	return d.text()
}

// gone waits until the server has closed the connection, and ignores what still comes.
func (c *rawClient) gone() {
	c.t.Helper()
	_ = c.nc.SetReadDeadline(time.Now().Add(enough)) // a pipe that was closed already takes none
	if _, err := io.Copy(io.Discard, c.nc); err != nil {
		c.t.Fatalf("the server did not end the connection of session %x within %s: %v", c.session, enough, err)
	}
}

// enough bounds every wait. It is no measurement: a test that hangs fails with what it waits for.
const enough = repeat.Enough

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	t.Cleanup(cancel)
	return ctx
}

func until(t *testing.T, s *Server, holds func(*View) bool) {
	t.Helper()
	if err := s.WaitFor(bounded(t), holds); err != nil {
		t.Fatal(err)
	}
}

func frameOf(length int, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(length)), body...)
}
