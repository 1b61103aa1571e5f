package zkio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// peerOfKeeper is a server that grants less than it is asked for, and notes when it got which frame. It closes the
// first connection after two pings, and answers the close on the second.
type peerOfKeeper struct {
	began time.Time
	dials int

	mu     sync.Mutex
	frames []noted
}

type noted struct {
	connection int
	after      time.Duration
	frame      []byte
}

// grantedByPeer is not a whole number of pings' intervals in nanoseconds.
const grantedByPeer = 10 * time.Second

func (p *peerOfKeeper) dial() (net.Conn, error) {
	p.dials++
	client, server := net.Pipe()
	go p.serve(p.dials, server)
	return client, nil
}

func (p *peerOfKeeper) serve(connection int, conn net.Conn) {
	defer conn.Close()
	for n := 0; ; n++ {
		var length [jute.LengthSize]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(conn, frame); err != nil {
			return
		}
		p.mu.Lock()
		p.frames = append(p.frames, noted{connection, time.Since(p.began), append(length[:], frame...)})
		p.mu.Unlock()
		head := jute.Decoder{Rest: frame}
		switch xid := head.Int32(); {
		case n == 0:
			granted := int32(grantedByPeer.Milliseconds())
			_, _ = conn.Write(jute.NewFrame().Int32(protocolVersion).Int32(granted).Int64(77).
				Bytes([]byte("its password is.")).Finish())
		case head.Int32() == opClose:
			_, _ = conn.Write(stub(xid))
			return
		case connection == 1 && n == 2:
			return
		default:
			_, _ = conn.Write(stub(xid))
		}
	}
}

// framesOf returns what a client writes while it is open for 20 s.
func framesOf(t *testing.T, open func(*peerOfKeeper) (shut func())) (frames []noted) {
	virtual.Test(t, func(t *testing.T) {
		p := &peerOfKeeper{began: time.Now()}
		shut := open(p)
		virtual.Sleep(20 * time.Second)
		shut()
		p.mu.Lock()
		defer p.mu.Unlock()
		frames = p.frames
	})
	return frames
}

// withReadOnlyByte returns the frames with the last byte of a connect request, which zk.Conn leaves out.
func withReadOnlyByte(frames []noted) []noted {
	for i := range frames {
		if i == 0 || frames[i].connection != frames[i-1].connection {
			longer := append(frames[i].frame, 0)
			binary.BigEndian.PutUint32(longer, uint32(len(longer)-jute.LengthSize))
			frames[i].frame = longer
		}
	}
	return frames
}

// The same frames at the same times: connect, two pings, connect to the session that was granted, four pings, close.
func TestTheKeeperWritesWhatZkConnWrites(t *testing.T) {
	const asked = 15 * time.Second
	want := withReadOnlyByte(framesOf(t, func(p *peerOfKeeper) func() {
		conn, gone, err := zk.Connect([]string{"ensemble"}, asked, zk.WithLogInfo(false),
			zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) { return p.dial() }),
			zk.WithHostProvider(oneServer{}))
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			conn.Close()
			for range gone {
			}
		}
	}))
	got := framesOf(t, func(p *peerOfKeeper) func() {
		k := keep(context.Background(), asked, p.dial)
		return func() {
			k.close()
			<-k.gone
		}
	})
	if len(want) != 9 {
		t.Errorf("zk.Conn writes %d frames, want 9", len(want))
	}
	same := func(a, b noted) bool {
		return a.connection == b.connection && a.after == b.after && bytes.Equal(a.frame, b.frame)
	}
	if !slices.EqualFunc(got, want, same) {
		t.Errorf("the keeper writes\n%v, zk.Conn\n%v", got, want)
	}
}

// oneServer is a zk.HostProvider.
type oneServer struct{}

func (oneServer) Init([]string) error  { return nil }
func (oneServer) Len() int             { return 1 }
func (oneServer) Connected()           {}
func (oneServer) Next() (string, bool) { return "ensemble", false }

// After the end of its context, and after close, a keeper does not dial.
func TestAKeeperThatHasEndedDoesNotDial(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		for what, end := range map[string]func(*keeper, func()){
			"its context": func(_ *keeper, cancel func()) { cancel() },
			"close":       func(k *keeper, _ func()) { k.close() },
		} {
			ctx, cancel := context.WithCancel(context.Background())
			dials := 0
			k := keep(ctx, time.Second, func() (net.Conn, error) {
				if dials++; dials > 3 {
					cancel()
				}
				virtual.Sleep(time.Second)
				return nil, errors.New("nobody answers")
			})
			virtual.Sleep(2500 * time.Millisecond)
			end(k, cancel)
			<-k.gone
			if dials != 3 {
				t.Errorf("after %s: %d dials, want 3", what, dials)
			}
			cancel()
		}
	})
}

// blockedConn grants a session, ends after 5 s, and takes nothing but the connect request: any other Write blocks until
// Close, and returns a second later.
type blockedConn struct {
	net.Conn
	answer    *bytes.Reader
	connected bool
	closed    chan struct{}
	once      sync.Once
	returned  chan struct{} // closed when the blocked Write returns
}

func (c *blockedConn) Read(b []byte) (int, error) {
	if c.answer.Len() > 0 {
		return c.answer.Read(b)
	}
	virtual.Sleep(5 * time.Second)
	return 0, io.EOF
}

func (c *blockedConn) Write(b []byte) (int, error) {
	if !c.connected {
		c.connected = true
		return len(b), nil
	}
	select {
	case <-c.closed: // the close, which may come after the end
		return 0, net.ErrClosed
	default:
	}
	defer close(c.returned)
	<-c.closed
	virtual.Sleep(time.Second)
	return 0, net.ErrClosed
}

func (c *blockedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// When a connection ends, a ping that waits for the server fails, and the keeper waits for its end.
func TestAKeeperOutlivesItsWrites(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		granted := jute.NewFrame().Int32(protocolVersion).Int32(int32(grantedByPeer.Milliseconds())).Int64(77).
			Bytes(make([]byte, passwordSize)).Finish()
		conn := &blockedConn{answer: bytes.NewReader(granted),
			closed: make(chan struct{}), returned: make(chan struct{})}
		began := time.Now()
		k := keep(context.Background(), time.Second, func() (net.Conn, error) { return conn, nil })
		virtual.Sleep(4 * time.Second)
		k.close()
		<-k.gone
		select {
		case <-conn.returned:
		default:
			t.Error("a Write goes on")
		}
		if took := time.Since(began); took != 6*time.Second {
			t.Errorf("it ended after %s, want 6s", took)
		}
	})
}

// Only Read reports the end of a connection.
func TestFactE_WriteNeverFails(t *testing.T) {
	client, server := net.Pipe()
	_ = server.Close()
	w := newWire(client, &session{a: &Adapter{coding: coding{cfg: Config{Now: func() int64 { return 1 }}}}}, "mem:2181")
	if n, err := w.Write([]byte("12345678")); n != 8 || err != nil {
		t.Errorf("Write: %d, %v", n, err)
	}
	if _, err := client.Write(nil); err == nil {
		t.Error("the connection is still open")
	}
}
