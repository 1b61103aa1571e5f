package zkio_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// badServer is the server's end of one connection, after its handshake with a client.
type badServer struct {
	net.Conn
	n int // connections before this one
}

// frame is an answer: xid, zxid, code, body.
func frame(xid int32, zxid int64, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(body)))
	b = binary.BigEndian.AppendUint32(b, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, uint64(zxid))
	return append(append(b, 0, 0, 0, 0), body...)
}

// event is a watch event: the data of a node was set.
func event(path string) []byte {
	body := binary.BigEndian.AppendUint32([]byte("\x00\x00\x00\x03\x00\x00\x00\x03"), uint32(len(path)))
	return frame(-1, -1, string(body)+path)
}

// request reads the client's next frame: its xid and operation.
func (v badServer) request() (xid, op int32, err error) {
	var size [4]byte
	if _, err = io.ReadFull(v, size[:]); err != nil {
		return 0, 0, err
	}
	body := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err = io.ReadFull(v, body); err != nil || len(body) < 8 {
		return 0, 0, err
	}
	return int32(binary.BigEndian.Uint32(body)), int32(binary.BigEndian.Uint32(body[4:])), nil
}

// send writes immediately; it returns false when the client is gone.
func (v badServer) send(b []byte) bool {
	_, err := v.Write(b)
	return err == nil
}

// flood sends one frame every 10 ms until the client is gone, and reads what comes
// meanwhile.
func (v badServer) flood(what []byte) {
	go func() { _, _ = io.Copy(io.Discard, v) }()
	for v.send(what) {
		virtual.Sleep(10 * time.Millisecond)
	}
}

// granted is the connect response that grants session 1 for 15 s.
var granted = []byte("\x00\x00\x00\x24\x00\x00\x00\x00\x00\x00\x3a\x98\x00\x00\x00\x00\x00\x00\x00\x01\x00" +
	"\x00\x00\x10" + strings.Repeat("p", 16))

// greet reads a client's connect request, and grants it the session.
func greet(conn net.Conn) {
	hello := make([]byte, 4096)
	_, _ = conn.Read(hello)
	_, _ = conn.Write(granted)
}

// badServers are servers that complete the handshake and then misbehave. The client has to
// leave each within a session timeout and the interval of a ping.
var badServers = map[string]func(badServer){
	"watch events without end, and no answer": func(v badServer) { v.flood(event("/somewhere")) },
	"watch events for the one who asks":       func(v badServer) { v.flood(event("/n")) },
	"answers that nobody asked for":           func(v badServer) { v.flood(frame(77, 5, "")) },
	"answers with the numbers of no request":  func(v badServer) { v.flood(frame(-3, 5, "")) },
	"pongs without end":                       func(v badServer) { v.flood(frame(-2, 5, "")) },
	"answers to setWatches and auth": func(v badServer) {
		v.flood(append(frame(-8, 5, ""), frame(-4, 5, "")...))
	},
	"a length of two gigabytes": func(v badServer) { v.flood([]byte("\x7f\xff\xff\xff")) },
	"the answer, byte by byte": func(v badServer) {
		go func() { _, _ = io.Copy(io.Discard, v) }()
		for _, b := range frame(1, 5, strings.Repeat("x", 200)) {
			if !v.send([]byte{b}) {
				return
			}
			virtual.Sleep(time.Second)
		}
	},
	"the answer to the request before": func(v badServer) {
		for {
			xid, op, err := v.request()
			if err != nil {
				return
			}
			if op == 11 {
				v.send(frame(-2, 5, ""))
				continue
			}
			v.send(frame(xid-1, 5, ""))
		}
	},
	"answers to all but this, and no pongs": func(v badServer) {
		for {
			xid, op, err := v.request()
			if err != nil {
				return
			}
			if op == 12 { // getChildren2
				v.send(frame(xid, 5, strings.Repeat("\x00", 4+68)))
			}
		}
	},
}

// badServerRig returns a rig whose connections are all served by a badServer after its handshake.
func badServerRig(t *testing.T, cfg zkio.Config, serve func(badServer)) *rig {
	r := unservedRig(t, cfg, func(v badServer) {
		greet(v)
		serve(v)
	})
	r.Execute(events.SessionMachine, events.Connect{Session: 1})
	return r
}

// unservedRig returns a rig whose connections are all served by a badServer from the beginning.
func unservedRig(t *testing.T, cfg zkio.Config, serve func(badServer)) *rig {
	cfg.Servers = []string{"odd"}
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait) // after the rig has closed its connections
	n := 0
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		v := badServer{server, n}
		n++
		serving.Go(func() {
			defer server.Close()
			serve(v)
		})
		return client, nil
	}
	return newRig(t, cfg)
}

// However a server misbehaves, a request that it does not answer ends within the session
// timeout and the time of a ping, and the connection with it.
func TestNoServerHoldsARequestForLonger(t *testing.T) {
	const longest = 15*time.Second + 6*time.Second
	for name, serve := range badServers {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				r := badServerRig(t, zkio.Config{}, serve)
				r.await(events.ConnectionAttached)
				start := time.Now()
				r.Execute(machine, events.Get{Call: r.call(), Path: "/n", Watch: true})
				ctx, stop := context.WithCancel(t.Context())
				var others sync.WaitGroup
				defer others.Wait()
				defer stop()
				others.Go(func() { // they are answered or not
					for ctx.Err() == nil {
						_, _ = r.List(ctx, "/")
						virtual.Sleep(time.Second)
					}
				})
				left := r.await(events.ConnectionSuspended)
				if took := time.Since(start); took > longest {
					t.Errorf("the connection was left after %v: %s", took, left.Text)
				}
				if got := r.await(events.ReplyStat); got.Code != events.ConnectionLoss {
					t.Errorf("got %+v", got)
				}
			})
		})
	}
}

// If a server answers the re-arming of watches with events without end, the client stops
// reading before memory runs out.
func TestEventsWithoutEndInTheHandshake(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		r := badServerRig(t, zkio.Config{}, func(v badServer) {
			for {
				xid, op, err := v.request()
				switch {
				case err != nil:
					return
				case op == 101: // setWatches
					go func() { _, _ = io.Copy(io.Discard, v) }()
					for v.send(event("/n")) {
						sent.Add(1)
					}
					return
				case op == 4: // getData
					v.send(frame(xid, 5, "\xff\xff\xff\xff"+strings.Repeat("\x00", 68)))
				case v.n == 0:
					return
				}
			}
		})
		r.await(events.ConnectionAttached)
		if got := r.ask(events.Get{Call: r.call(), Path: "/n", Watch: true}); got.Code != events.OK {
			t.Fatalf("got %+v", got)
		}
		r.Execute(machine, events.Sync{Call: r.call(), Path: "/"}) // the first connection ends by this
		r.await(events.ConnectionSuspended)
		refused := r.await(events.ConnectionRefused)
		if !strings.Contains(refused.Text, "not ZooKeeper's protocol") || sent.Load() > 100 {
			t.Errorf("%d events were taken; %s", sent.Load(), refused.Text)
		}
	})
}

// The zxid that a session has seen never falls, whatever zxids answers carry: by it a
// server that lags behind is recognized and refused when the session reconnects.
func TestWhatASessionHasSeenNeverFalls(t *testing.T) {
	const seen = 9
	virtual.Test(t, func(t *testing.T) {
		claimed := make(chan int64, 1)
		r := unservedRig(t, zkio.Config{}, func(v badServer) {
			hello := make([]byte, 4096)
			if n, err := v.Read(hello); err != nil || n < 16 {
				return
			}
			switch v.n {
			case 0:
			case 1: // the length and the version come before it
				claimed <- int64(binary.BigEndian.Uint64(hello[8:]))
				return
			default:
				return
			}
			v.send(granted)
			for _, zxid := range []int64{seen - 1, seen, 5, 0, -1} {
				xid, _, err := v.request()
				if err != nil || !v.send(frame(xid, zxid, strings.Repeat("\x00", 4+68))) {
					return
				}
			}
		})
		r.Execute(events.SessionMachine, events.Connect{Session: 1})
		r.await(events.ConnectionAttached)
		for range 5 {
			if got := r.ask(events.Children{Call: r.call(), Path: "/"}); got.Code != events.OK {
				t.Fatalf("got %+v", got)
			}
		}
		if got := <-claimed; got != seen {
			t.Errorf("the session has seen zxid %d, and says %d when it comes back", seen, got)
		}
	})
}
