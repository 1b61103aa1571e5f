package meter

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

func frame(xid int32, body int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+body))
	return append(binary.BigEndian.AppendUint32(b, uint32(xid)), make([]byte, body)...)
}

// A count does not depend on where the network cuts the stream.
func TestRequestsAreCountedInPiecesOfAnySize(t *testing.T) {
	zookeeper := bytes.Join([][]byte{frame(0, 41), frame(1, 30), frame(-2, 4), frame(2, 0), frame(-8, 100),
		frame(3, 7)}, nil)
	http2 := []byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
		"\x00\x00\x06\x04\x00\x00\x00\x00\x00settin" + // SETTINGS
		"\x00\x00\x03\x01\x04\x00\x00\x00\x01hea" + // HEADERS
		"\x00\x00\x05\x00\x00\x00\x00\x00\x01hello" + // DATA
		"\x00\x00\x00\x00\x01\x00\x00\x00\x01" + // DATA that only ends the stream
		"\x00\x01\x01\x00\x00\x00\x00\x00\x03" + strings.Repeat("x", 257)) // DATA
	for name, c := range map[string]struct {
		stream  []byte
		framing func() Framing
		want    int
	}{"ZooKeeper": {zookeeper, ZooKeeper, 4}, "HTTP/2": {http2, HTTP2, 2}} {
		for piece := 1; piece <= len(c.stream); piece++ {
			f, got := c.framing(), 0
			for rest := c.stream; len(rest) > 0; {
				n := min(piece, len(rest))
				got, rest = got+f.Feed(rest[:n]), rest[n:]
			}
			if got != c.want {
				t.Fatalf("%s in pieces of %d bytes: %d requests, want %d", name, piece, got, c.want)
			}
		}
	}
}

func TestAMeterCountsARealClientsRequests(t *testing.T) {
	server := zkmem.Start(t)
	m, err := New(server.Addr(), ZooKeeper)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	conn, events, err := zk.Connect([]string{m.Addr()}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for e := range events {
		if e.State == zk.StateHasSession {
			break
		}
	}
	before, _ := m.Count()
	for range 7 {
		if _, _, err := conn.Exists("/none"); err != nil {
			t.Fatal(err)
		}
	}
	if after, sent := m.Count(); after-before != 7 || sent < 7*30 {
		t.Errorf("%d requests and %d bytes were counted", after-before, sent)
	}
}

// What the client has sent arrives, and both ends see the other's end.
func TestAMeterPassesEverythingOn(t *testing.T) {
	target, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	go func() {
		c, err := target.Accept()
		if err == nil {
			io.Copy(c, c)
			c.Close()
		}
	}()
	m, err := New(target.Addr().String(), ZooKeeper)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", m.Addr())
	if err != nil {
		t.Fatal(err)
	}
	sent := bytes.Repeat(frame(1, 1000), 50)
	go c.Write(sent)
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("what came back differs: %v", err)
	}
	if requests, passed := m.Count(); requests != 50 || passed < int64(2*len(sent)) {
		t.Errorf("%d requests, %d bytes", requests, passed)
	}
	m.Close()
	if _, err := c.Read(got); err == nil {
		t.Error("the connection survived its meter")
	}
}
