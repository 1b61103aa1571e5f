// Package link connects a test's client to a server by a link in memory that has room, and takes its time.
package link

import (
	"bytes"
	"io"
	"net"
	"time"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// Dial returns a connection to what serves the other end. Each direction takes so long, in virtual time. Unlike a pipe
// it has room, as a socket has, for what the other end has not read.
func Dial(oneWay time.Duration, serve func(net.Conn)) net.Conn {
	client, near := net.Pipe()
	far, server := net.Pipe()
	delayed(far, near, oneWay)
	delayed(near, far, oneWay)
	go serve(server)
	return client
}

// delayed copies with a delay, and in order.
func delayed(to, from net.Conn, by time.Duration) {
	type packet struct {
		data []byte
		due  time.Time
	}
	packets := make(chan packet, 1000)
	go func() {
		defer close(packets)
		buffer := make([]byte, 4096)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			packets <- packet{bytes.Clone(buffer[:n]), time.Now().Add(by)}
		}
	}()
	go func() {
		defer func(ends ...io.Closer) {
			for _, end := range ends {
				_ = end.Close()
			}
		}(to, from)
		for p := range packets {
			virtual.Sleep(time.Until(p.due))
			_, _ = to.Write(p.data)
		}
	}()
}
