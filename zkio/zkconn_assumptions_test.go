package zkio

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/internal/jute"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// pinned is the version whose behaviour the wire relies on.
const pinned = "v1.0.4"

// If this fails, go-zookeeper was updated. Compare its conn.go with wire.go: connect,
// authenticate, sendData, sendLoop, recvLoop, Close. If TestPinWhatTheWireReliesOn still
// holds, and the fact tests hold under -race -count=10, change the version here.
func TestPinVersion(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`github\.com/go-zookeeper/zk (\S+)`).FindSubmatch(mod)
	if found == nil || string(found[1]) != pinned {
		t.Errorf("go.mod has go-zookeeper %s, the wire was written for %s", found, pinned)
	}
}

// recorder notes what zk.Conn does to its connection.
type recorder struct {
	net.Conn
	mu     sync.Mutex
	writes [][]byte
	reads  []int // sizes asked for
	steps  []string
}

func (r *recorder) note(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, step)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	r.writes = append(r.writes, append([]byte{}, b...))
	r.mu.Unlock()
	return r.Conn.Write(b)
}

func (r *recorder) Read(b []byte) (int, error) {
	r.note("read")
	r.mu.Lock()
	r.reads = append(r.reads, len(b))
	r.mu.Unlock()
	return r.Conn.Read(b)
}

func (r *recorder) SetReadDeadline(t time.Time) error {
	if !t.IsZero() {
		r.note("deadline")
	}
	return r.Conn.SetReadDeadline(t)
}

func TestPinWhatTheWireReliesOn(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		rec := &recorder{Conn: client}
		go stubServer(server)
		conn, gone, err := zk.Connect([]string{"ensemble"}, 15*time.Second,
			zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) { return rec, nil }),
			zk.WithHostProvider(onlyOnce{}), zk.WithLogger(discardLogger{}), zk.WithMaxBufferSize(1024))
		if err != nil {
			t.Fatal(err)
		}
		virtual.Sleep(6 * time.Second) // a ping
		conn.Close()
		for range gone {
		}
		checkWrites(t, rec.writes)
		checkReads(t, rec)
	})
}

// checkWrites: the first Write is the connect request; every Write is one
// frame, a ping or the close, whose number is 1.
func checkWrites(t *testing.T, writes [][]byte) {
	t.Helper()
	const connect = 4 + 4 + 8 + 4 + 8 + 4 + 16
	if len(writes[0]) != connect {
		t.Errorf("the connect request takes %d bytes, want %d", len(writes[0]), connect)
	}
	var xids, ops []int32
	for i, b := range writes {
		if int(binary.BigEndian.Uint32(b)) != len(b)-jute.LengthSize {
			t.Errorf("write %d is not one frame: % x", i, b)
		}
		if i > 0 {
			head := jute.Decoder{Rest: b[jute.LengthSize:]}
			xids, ops = append(xids, head.Int32()), append(ops, head.Int32())
		}
	}
	wantXids, wantOps := []int32{xidPing, 1}, []int32{opPing, opClose}
	if !slices.Equal(xids, wantXids) || !slices.Equal(ops, wantOps) {
		t.Errorf("frames: xids %v, operations %v; want %v, %v", xids, ops, wantXids, wantOps)
	}
}

// checkReads: after the handshake, a deadline, then the length, then the body.
func checkReads(t *testing.T, rec *recorder) {
	t.Helper()
	for i, size := range rec.reads {
		if i%2 == 0 && size != jute.LengthSize || i%2 == 1 && size == jute.LengthSize {
			t.Errorf("read %d asks for %d bytes: %v", i, size, rec.reads)
			break
		}
	}
	for i := 0; i+2 < len(rec.steps); i += 3 {
		if rec.steps[i] != "deadline" || rec.steps[i+1] != "read" || rec.steps[i+2] != "read" {
			t.Errorf("steps: %v", rec.steps)
			break
		}
	}
}

// stubServer answers every frame with a stub.
func stubServer(conn net.Conn) {
	defer conn.Close()
	answers := make(chan []byte, 100)
	go func() {
		for b := range answers {
			_, _ = conn.Write(b)
		}
	}()
	defer close(answers)
	for first := true; ; first = false {
		var length [jute.LengthSize]byte
		if _, err := io.ReadFull(conn, length[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(conn, frame); err != nil {
			return
		}
		if first {
			answers <- greetingFrame()
			continue
		}
		answers <- stub(int32(binary.BigEndian.Uint32(frame)))
	}
}

// greetingFrame has protocol 0, a timeout of 15 s, session 1 and a password.
func greetingFrame() []byte {
	return make(frame, jute.LengthSize).Int32(0).Int32(15000).Int64(1).Bytes(make([]byte, 16)).Finish()
}

// onlyOnce is a zk.HostProvider with one server.
type onlyOnce struct{}

func (onlyOnce) Init([]string) error  { return nil }
func (onlyOnce) Len() int             { return 1 }
func (onlyOnce) Connected()           {}
func (onlyOnce) Next() (string, bool) { return "ensemble", false }

// A failed Write would make zk.Conn answer one request more often than its channel has
// room. So the wire reports success and ends the connection.
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
