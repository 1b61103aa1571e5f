package incumbent

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// closingConn is a connection on which writes fail after its first container. The answer to
// that one comes a little later.
type closingConn struct {
	net.Conn
	asked  int
	answer chan struct{}
}

func (c *closingConn) Write(b []byte) (int, error) {
	if len(b) >= 12 && zkmem.OpCode(binary.BigEndian.Uint32(b[8:])) == zkmem.OpCreateContainer {
		c.asked++
	}
	if c.asked < 2 {
		return c.Conn.Write(b)
	}
	if c.asked == 2 {
		c.asked++
		time.AfterFunc(time.Millisecond, func() { close(c.answer) })
	}
	return 0, errors.New("broken pipe")
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
		c := w.open(func(config *Config) {
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
		s, err := c.Selector("/a/b/c", func(l *Leadership) error {
			led++
			return l.Check()
		}, SelectorOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Run(t.Context()); err != nil || led != 1 {
			t.Fatalf("led %d times: %v\n%s", led, err, c.tape.Tail(30))
		}
	})
}
