package zkmem

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

func TestBrokenClientsAreCutOffAndHarmNobody(t *testing.T) {
	s := Start(t)
	good := newSession(t, s, time.Minute)
	for name, sent := range map[string][]byte{
		"negative length":  frameOf(-1, nil),
		"huge length":      frameOf(1<<30, nil),
		"a frame too long": frameOf(1<<20, nil),
		"empty handshake":  frameOf(0, nil),
		"short handshake":  frameOf(3, []byte("abc")),
		"noise":            bytes.Repeat([]byte{0xff, 0, 0x80, 7}, 64),
		"http":             []byte("GET / HTTP/1.1\r\n\r\n"),
		"huge password":    frameOf(28, append(make([]byte, 24), 0x7f, 0xff, 0xff, 0xff)),
	} {
		nc, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(sent)
		io.Copy(io.Discard, nc) // ends when the server closes the connection
		nc.Close()
		if code, _, err := good.ask(OpPing, nil); code != OK || err != nil {
			t.Fatal(name, code, err)
		}
	}
	until(t, s, func(v *View) bool { return v.Connections() == 1 && len(v.Sessions()) == 1 })
}

func TestABrokenRequestEndsOnlyItsConnection(t *testing.T) {
	s := Start(t)
	for _, frame := range [][]byte{frameOf(0, nil), frameOf(4, make([]byte, 4)), frameOf(-5, nil),
		frameOf(1<<24, nil)} {
		c := newSession(t, s, time.Minute)
		c.nc.Write(frame)
		c.gone()
		if c.again(s).session == 0 {
			t.Fatal("the session must survive")
		}
	}
	c := newSession(t, s, time.Minute)
	listOfMillions := func(e *encoder) { e.int64(0); e.int32(1 << 28) }
	if code, _, err := c.ask(OpSetWatches, listOfMillions); code != MarshallingError || err != nil {
		t.Fatal(code, err)
	}
	if code, _, err := c.ask(OpMulti, nil); code != MarshallingError || err != nil {
		t.Fatal(code, err)
	}
}

func TestASilentHandshakeIsCutOff(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s := New(Options{HandshakeTimeout: 3 * time.Second})
		defer s.Close()
		start := time.Now()
		overPipe(t, s).gone()
		if time.Since(start) != 3*time.Second {
			t.Fatal(time.Since(start))
		}
	})
}

func TestAReaderTooSlowIsCutOff(t *testing.T) {
	s := Start(t, Options{MaxOutbound: 1 << 16})
	s.Create("/n", make([]byte, 1<<14), Persistent)
	c := newSession(t, s, time.Minute)
	for range 6 { // the answers are not read
		c.send(OpGetData, read("/n", false))
	}
	until(t, s, func(v *View) bool { return v.Connections() == 0 })
	if c.again(s).session == 0 {
		t.Fatal("the session must survive")
	}
}

func TestConnectionsBeyondTheLimitAreClosed(t *testing.T) {
	s := Start(t, Options{MaxConnections: 2})
	first := newSession(t, s, time.Minute)
	newSession(t, s, time.Minute)
	overPipe(t, s).gone()
	s.Disconnect(first.session)
	newSession(t, s, time.Minute)
}

func FuzzServerSurvivesAnyBytes(f *testing.F) {
	hello := append(frameOf(45, make([]byte, 24)), append(frameOf(16, make([]byte, 16)), 0)...)
	request := func(op OpCode, body func(*encoder)) []byte {
		e := newFrame()
		e.int32(1)
		e.int32(int32(op))
		body(e)
		return append(bytes.Clone(hello), e.frame()...)
	}
	f.Add([]byte("ruok"))
	f.Add(hello)
	f.Add(request(OpCreate, create("/a", EphemeralSequential)))
	f.Add(request(OpGetChildren2, read("/", true)))
	f.Add(request(OpMulti, func(e *encoder) {
		e.int32(int32(OpDelete))
		e.bool(false)
		e.int32(-1)
		e.text("/a")
		e.int32(-1)
		e.int32(-1)
		e.bool(true)
		e.int32(-1)
	}))
	f.Add(request(OpSetWatches, func(e *encoder) { e.int64(0); e.texts([]string{"/a"}); e.texts(nil); e.texts(nil) }))
	f.Add(request(OpAuth, func(e *encoder) { e.int32(0); e.text("digest"); e.bytes([]byte("a:b")) }))
	f.Add(request(OpSetACL, func(e *encoder) { e.text("/"); e.acls([]ACL{{1, "ip", "1.2.3.4/99"}}); e.int32(-1) }))
	f.Add(frameOf(-1, nil))
	f.Fuzz(func(t *testing.T, sent []byte) {
		s := New(Options{})
		defer s.Close()
		client, server := net.Pipe()
		ended := make(chan struct{})
		go func() { s.ServeConn(server); close(ended) }()
		go io.Copy(io.Discard, client)
		client.Write(sent)
		client.Close()
		<-ended
	})
}
