package zkio

import (
	"net"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// zk.Conn takes no stub for an answer with a body: not for one that was cut off, and not for one that is empty.
func TestNoStubIsDecoded(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go stubServer(server)
		conn, gone, err := zk.Connect([]string{"ensemble"}, 15*time.Second,
			zk.WithDialer(func(string, string, time.Duration) (net.Conn, error) { return client, nil }),
			zk.WithHostProvider(onlyOnce{}), zk.WithLogger(discardLogger{}))
		if err != nil {
			t.Fatal(err)
		}
		_, _, get := conn.Get("/get")
		for name, err := range map[string]error{"get": get, "delete": conn.Delete("/delete", 0)} {
			if err == nil || err == zk.ErrShortBuffer {
				t.Errorf("%s: %v, want the error of the stub", name, err)
			}
		}
		conn.Close()
		for range gone {
		}
	})
}
