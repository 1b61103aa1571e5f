package realzk

import (
	"net"
	"time"
)

// Dial is for zk.WithDialer where a server is stopped and started under a go-zookeeper connection: it bounds the wait
// for the answer to the handshake. A server that is just starting may take a connection and never answer it, and
// go-zookeeper waits for 6.7 session timeouts.
func Dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	conn, err := net.DialTimeout(network, addr, timeout)
	if err != nil {
		return nil, err
	}
	return &greeting{Conn: conn}, nil
}

const greetedWithin = 3 * time.Second

// greeting is a connection whose first deadline to read by, the handshake's, is a near one.
type greeting struct {
	net.Conn
	bounded bool
}

func (g *greeting) SetReadDeadline(t time.Time) error {
	if !g.bounded {
		g.bounded = true
		t = time.Now().Add(greetedWithin)
	}
	return g.Conn.SetReadDeadline(t)
}
