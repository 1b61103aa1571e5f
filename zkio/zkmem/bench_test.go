package zkmem

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// dialRaw returns a rawClient for a benchmark, over TCP.
func dialRaw(b *testing.B, s *Server) *rawClient {
	b.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { nc.Close() })
	c := &rawClient{t: b, nc: nc}
	c.introduce(0, nil, time.Minute)
	return c
}

func BenchmarkRoundTrip(b *testing.B) {
	s := Start(b)
	s.Create("/n", []byte("data"), Persistent)
	for _, op := range []OpCode{OpSync, OpGetData, OpCreate} {
		b.Run(op.String(), func(b *testing.B) {
			c := dialRaw(b, s)
			for i := range b.N {
				var err error
				switch op {
				case OpCreate:
					_, _, err = c.ask(op, create(fmt.Sprintf("/%d-%d", c.session, i), Persistent))
				case OpGetData:
					_, _, err = c.ask(op, read("/n", false))
				default:
					_, _, err = c.ask(op, func(e *encoder) { e.text("/n") })
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSessionMemory measures the memory of a connected session in the server, over
// net.Pipe, stacks included.
func BenchmarkSessionMemory(b *testing.B) {
	s := New(Options{MaxConnections: 1 << 30})
	defer s.Close()
	before := inUse()
	clients := make([]net.Conn, b.N)
	for i := range clients {
		client, server := net.Pipe()
		clients[i] = client
		go s.ServeConn(server)
		c := &rawClient{t: b, nc: client}
		c.introduce(0, nil, time.Minute)
	}
	b.ReportMetric(float64(inUse()-before)/float64(b.N), "B/session")
	for _, client := range clients {
		client.Close()
	}
}
