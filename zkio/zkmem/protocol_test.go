package zkmem

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// A client that may only read a node gets its ACL without the digests; one that may change the ACL gets all of it.
func TestDigestsAreShownToThoseWhoMayChangeThem(t *testing.T) {
	s := Start(t)
	owner, reader, stranger := newSession(t, s, time.Minute), newSession(t, s, time.Minute),
		newSession(t, s, time.Minute)
	for c, who := range map[*rawClient]string{owner: "me:secret", reader: "you:secret"} {
		c.ask(OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.bytes([]byte(who)) })
	}
	me, you := DigestAuth("me:secret").ID, DigestAuth("you:secret").ID
	whole := []ACL{{PermAll, "digest", me}, {PermRead, "digest", you}}
	owner.ask(OpCreate, func(e *encoder) { e.text("/n"); e.bytes(nil); e.acls(whole); e.int32(0) })
	get := func(path string) func(*encoder) { return func(e *encoder) { e.text(path) } }
	for name, test := range map[string]struct {
		c    *rawClient
		code Code
		want []ACL
	}{
		"owner":    {owner, OK, whole},
		"reader":   {reader, OK, []ACL{{PermAll, "digest", "me:x"}, {PermRead, "digest", "you:x"}}},
		"stranger": {stranger, NoAuth, nil},
	} {
		code, d, err := test.c.ask(OpGetACL, get("/n"))
		if err != nil || code != test.code || code == OK && !slices.Equal(d.acls(), test.want) {
			t.Errorf("%s: %v %v, want %v", name, code, err, test.want)
		}
	}
	if code, _, err := owner.ask(OpGetACL, get("/missing")); err != nil || code != NoNode {
		t.Errorf("a missing node: %v %v", code, err)
	}
}

// A handshake whose reply is lost made a session, and the first frame that the client gets is the reply to its first
// request.
func TestAHandshakeWhoseReplyIsLost(t *testing.T) {
	s := Start(t)
	remove := s.Intercept(func(r Request) Verdict {
		if r.Op == OpCreateSession {
			return Verdict{Action: LoseReply}
		}
		return Verdict{}
	})
	defer remove()
	c := overPipe(t, s)
	e := newFrame()
	e.int32(0)
	e.int64(0)
	e.int32(30_000)
	e.int64(0)
	e.bytes(make([]byte, 16))
	e.bool(false)
	c.nc.Write(e.frame())
	if code, _, err := c.ask(OpExists, read("/", false)); code != OK || err != nil {
		t.Errorf("the first frame: %v %v", code, err)
	}
	if n := len(s.Sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
}

// The reply to a multi ends with a header of its own: type -1, done, code -1.
func TestAMultiEndsWithItsHeader(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	code, d, err := c.ask(OpMulti, func(e *encoder) {
		e.int32(int32(OpCheck))
		e.bool(false)
		e.int32(-1)
		e.text("/")
		e.int32(-1)
		e.int32(-1)
		e.bool(true)
		e.int32(-1)
	})
	want := []byte{
		0, 0, 0, byte(OpCheck), 0, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff,
	}
	if err != nil || code != OK || !bytes.Equal(d.buf, want) {
		t.Fatalf("%v %v % x, want % x", code, err, d.buf, want)
	}
}

// Replies, the one to a handshake too, and watch events are packets sent.
func TestPacketsThatWereSentAreCounted(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	c.ask(OpExists, read("/n", true))
	c.mustCreateBehindItsEvent("/n")
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	io.WriteString(nc, "mntr")
	answer, err := io.ReadAll(nc)
	if want := "zk_packets_sent\t4\n"; err != nil || !strings.Contains(string(answer), want) {
		t.Errorf("want %q: %q %v", want, answer, err)
	}
}

// mustCreateBehindItsEvent creates a node that the client watches.
func (c *rawClient) mustCreateBehindItsEvent(path string) {
	c.t.Helper()
	xid := c.send(OpCreate, create(path, Persistent))
	if _, _, err := c.reply(-1); err != nil {
		c.t.Fatalf("no watch event: %v", err)
	}
	if code, _, err := c.reply(xid); err != nil || code != OK {
		c.t.Fatalf("create %s: %v %v", path, code, err)
	}
}

// A length below zero, where null is not meant, is a request that cannot be decoded; nothing else is harmed.
func TestNegativeLengthsAreMarshallingErrors(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	for name, ask := range map[string]func() (Code, *decoder, error){
		"path": func() (Code, *decoder, error) {
			return c.ask(OpExists, func(e *encoder) { e.int32(-2); e.bool(false) })
		},
		"data": func() (Code, *decoder, error) {
			return c.ask(OpSetData, func(e *encoder) { e.text("/"); e.int32(-7) })
		},
		"paths": func() (Code, *decoder, error) {
			return c.ask(OpSetWatches, func(e *encoder) { e.int64(0); e.int32(-2) })
		},
	} {
		if code, _, err := ask(); code != MarshallingError || err != nil {
			t.Errorf("%s: %v %v", name, code, err)
		}
	}
}

// A write that cannot even be prepared uses up a zxid, as in ZooKeeper, and only one.
func TestAWriteThatIsRefusedAtOnceUsesUpAZxid(t *testing.T) {
	s := Start(t)
	c := newSession(t, s, time.Minute)
	zxid := func() (now int64) {
		s.View(func(v *View) { now = v.Zxid() })
		return now
	}
	for op, want := range map[OpCode]Code{OpReconfig: ReconfigDisabled, OpMulti: MarshallingError} {
		before := zxid()
		body := map[OpCode]func(*encoder){OpReconfig: func(e *encoder) {
			e.text("")
			e.text("")
			e.text("")
			e.int64(-1)
		}}[op]
		if code, _, err := c.ask(op, body); code != want || err != nil {
			t.Errorf("%v: %v %v, want %v", op, code, err, want)
		}
		if after := zxid(); after != before+1 {
			t.Errorf("%v: zxid %d after %d", op, after, before)
		}
	}
}

// Credentials of a scheme that the server does not know end the connection, after the reply.
func TestRefusedCredentialsEndTheConnection(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		c := newSession(t, s, time.Minute)
		code, _, err := c.ask(OpAuth, func(e *encoder) { e.int32(0); e.text("kerberos"); e.bytes([]byte("me")) })
		if code != AuthFailed || err != nil {
			t.Errorf("%v %v", code, err)
		}
		c.gone()
		if c.again(s).session == 0 {
			t.Error("the session is gone")
		}
	})
}

// A connection whose last byte was sent ends at once, also where that byte ends an answer.
func TestAConnectionEndsWithTheLastByteThatItMaySend(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		c := newSession(t, s, time.Minute)
		s.CutSession(c.session, Outbound, 4+16)
		xid := c.send(OpPing, nil)
		if code, _, err := c.reply(xid); code != OK || err != nil {
			t.Fatalf("%v %v", code, err)
		}
		began := time.Now()
		if c.gone(); time.Since(began) != 0 {
			t.Errorf("it ends after %s: with its session", time.Since(began))
		}
	})
}

// brokenListener fails whenever a connection is accepted.
type brokenListener struct {
	net.Listener
	accepted int
}

var errTooManyFiles = errors.New("too many open files")

func (l *brokenListener) Accept() (net.Conn, error) { l.accepted++; return nil, errTooManyFiles }
func (l *brokenListener) Addr() net.Addr            { return &net.TCPAddr{} }
func (l *brokenListener) Close() error              { return nil }

// A listener that fails is tried a hundred times again, every 50 ms, before Serve fails.
func TestAListenerThatGoesOnFailingIsGivenUp(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{})
		defer s.Close()
		l := &brokenListener{}
		began := time.Now()
		if err := s.Serve(l); !errors.Is(err, errTooManyFiles) {
			t.Error(err)
		}
		if took := time.Since(began); l.accepted != 101 || took != 5*time.Second {
			t.Errorf("tried %d times in %s", l.accepted, took)
		}
	})
}
