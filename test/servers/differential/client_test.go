package differential

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/repeat"
)

const patience = repeat.Enough // bounds a read; decides nothing

// world is one server and the clients that talk to it.
type world struct {
	addr    string
	base    int64 // the last zxid when the round began
	clients []*client
	names   map[int64]string // session → name
}

// client is one raw connection, or none.
type client struct {
	w        *world
	conn     net.Conn
	session  int64
	password []byte
	xid      int32
}

func (w *world) owner(session int64) string {
	switch {
	case session == 0:
		return "-"
	case w.names[session] != "":
		return w.names[session]
	}
	return fmt.Sprintf("%x", session)
}

// connect sends a handshake and tells the answer.
func (c *client) connect(session int64, password []byte, seen int64, timeout int32, name string) string {
	return c.introduce(session, password, seen, timeout, name, false)
}

// introduce is connect for a client that may take a read-only server.
func (c *client) introduce(session int64, password []byte, seen int64, timeout int32, name string,
	readOnly bool) string {
	conn, err := net.DialTimeout("tcp", c.w.addr, patience)
	if err != nil {
		return err.Error()
	}
	c.hangUp()
	c.conn = conn
	body := enc{}.i32(0).i64(seen).i32(timeout).i64(session).str(string(password)).flag(readOnly)
	c.send(body)
	frame, err := c.read()
	if err != nil {
		c.hangUp()
		return "EOF"
	}
	d := &dec{buf: frame}
	if len(frame) == 16 {
		return fmt.Sprintf("a reply header in place of an answer: code %d", int32(binary.BigEndian.Uint32(frame[12:])))
	}
	version, granted, id, secret := d.i32(), d.i32(), d.i64(), d.take(int(d.i32()))
	text := fmt.Sprintf("version %d timeout %d readOnly %v", version, granted, d.take(1)[0])
	if granted == 0 {
		c.expectEnd()
		return text + fmt.Sprintf(" expired, session %d", id)
	}
	c.session, c.password = id, slices.Clone(secret)
	if session == 0 {
		c.w.names[id] = name
	}
	return text + " session " + c.w.owner(id)
}

func (c *client) hangUp() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// expectEnd reads until the server closes the connection and tells how many frames came before.
func (c *client) expectEnd() string {
	var frames []string
	for {
		frame, err := c.read()
		if err != nil {
			c.hangUp()
			return strings.Join(append(frames, "EOF"), " | ")
		}
		frames = append(frames, c.tell(frame, 0))
	}
}

func (c *client) send(body []byte) {
	c.conn.Write(append(enc{}.i32(int32(len(body))), body...))
}

func (c *client) read() ([]byte, error) {
	c.conn.SetReadDeadline(time.Now().Add(patience))
	var prefix [4]byte
	if _, err := io.ReadFull(c.conn, prefix[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(prefix[:]))
	_, err := io.ReadFull(c.conn, frame)
	return frame, err
}

// ask sends one request and tells all frames up to its reply, in order.
func (c *client) ask(op int32, body []byte) []string {
	c.xid++
	xid := c.xid
	switch op {
	case opPing:
		xid = -2
	case opAuth:
		xid = -4
	}
	c.send(append(enc{}.i32(xid).i32(op), body...))
	return c.await(xid, op)
}

// await tells all frames up to the reply to a request, in order.
func (c *client) await(xid, op int32) []string {
	var told []string
	for {
		frame, err := c.read()
		if err != nil {
			c.hangUp()
			return append(told, "EOF")
		}
		told = append(told, c.tell(frame, op))
		if int32(binary.BigEndian.Uint32(frame)) == xid {
			return told
		}
	}
}

// tell puts one frame into words.
func (c *client) tell(frame []byte, op int32) string {
	d := &dec{buf: frame, base: c.w.base, owner: c.w.owner}
	xid, zxid, code := d.i32(), d.zxid(), d.i32()
	if xid == -1 {
		return fmt.Sprintf("event zxid %d code %d type %d state %d %s", zxid, code, d.i32(), d.i32(), d.str())
	}
	text := fmt.Sprintf("reply xid %d zxid %d code %d", xid, zxid, code)
	if code == 0 && xid != -2 {
		text += " " + d.body(op)
	}
	if len(d.buf) > 0 {
		text += fmt.Sprintf(" and %d bytes", len(d.buf))
	}
	return text
}
