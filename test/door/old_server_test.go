package door_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// closingConn is a connection on which a write fails behind the first container. The answer to
// that one comes a little later.
type closingConn struct {
	net.Conn
	asked  bool
	once   sync.Once
	answer chan struct{}
}

func (c *closingConn) Write(b []byte) (n int, err error) {
	for !c.asked && n < len(b) {
		size := min(4+int(binary.BigEndian.Uint32(b[n:])), len(b)-n)
		c.asked = size >= 12 && zkmem.OpCode(binary.BigEndian.Uint32(b[n+8:])) == zkmem.OpCreateContainer
		if _, err := c.Conn.Write(b[n : n+size]); err != nil {
			return n, err
		}
		n += size
	}
	if n == len(b) {
		return n, nil
	}
	time.AfterFunc(time.Millisecond, func() { c.once.Do(func() { close(c.answer) }) })
	return n, errors.New("broken pipe")
}

// A server that does not know containers says so and closes the connection. If that ends a
// write, the answer is read nevertheless: the client knows that its own request ended the
// connection, and a selector that leads once does not give up for it.
func TestAnOldServersRefusalIsReadBeforeItCloses(t *testing.T) {
	bubble(t, zkmem.Options{NoContainers: true, NoCreate2: true}, func(t *testing.T, w *world) {
		first, answer := true, make(chan struct{})
		w.srv.Intercept(func(r zkmem.Request) (v zkmem.Verdict) {
			if r.Op == zkmem.OpCreateContainer {
				v.Wait = answer
			}
			return v
		})
		c := w.open(func(config *incumbent.Config) {
			dial := config.Dial
			config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if first && err == nil {
					first, conn = false, &closingConn{Conn: conn, answer: answer}
				}
				return conn, err
			}
		})
		led := 0
		s, err := c.Selector("/a/b/c", func(l *incumbent.Leadership) error {
			led++
			return l.Check()
		}, incumbent.SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err != nil || led != 1 {
			t.Fatalf("led %d times: %v\n%s", led, err, c.tape.Tail(30))
		}
	})
}
