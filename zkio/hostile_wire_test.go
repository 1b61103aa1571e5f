package zkio_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// No answer is taken for that to a close request that was not sent, whatever its number: the session goes on.
func TestNoAnswerEndsASessionThatIsNotClosed(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		numbers := []int32{-2000, -1000, -999, -11, -8, -4, -3, 0, 1, 2, 1 << 30, 1<<31 - 1, -1 << 31}
		r := badServerRig(t, zkio.Config{}, func(v badServer) {
			for _, xid := range numbers {
				v.send(frame(xid, 5, ""))
			}
			for {
				xid, _, err := v.request()
				if err != nil || !v.send(frame(xid, 5, "\x00\x00\x00\x00")) {
					return
				}
			}
		})
		r.await(events.ConnectionAttached)
		synctest.Wait()
		if rest := r.rest(); len(rest) > 0 {
			t.Errorf("posted: %+v", rest)
		}
		if got := r.ask(events.Sync{Call: r.call(), Path: "/"}); got.Code != events.OK {
			t.Errorf("got %+v", got)
		}
	})
}

// A server that goes on sending is not silent, also if no piece of what it sends ends with a frame.
func TestFramesInPiecesAreNoSilence(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		const cut = 10
		pong := frame(-2, 5, "")
		r := badServerRig(t, zkio.Config{}, func(v badServer) {
			go func() { _, _ = io.Copy(io.Discard, v) }()
			v.send(pong[:cut])
			for v.send(append(pong[cut:len(pong):len(pong)], pong[:cut]...)) {
				virtual.Sleep(time.Second)
			}
		})
		r.await(events.ConnectionAttached)
		virtual.Sleep(time.Minute)
		if rest := r.rest(); len(rest) > 0 {
			t.Errorf("posted: %+v", rest)
		}
	})
}

// halfWritten is a connection. When fails is set, its next write takes one half, and fails.
type halfWritten struct {
	net.Conn
	mu     sync.Mutex
	fails  bool
	writes int // since then
}

func (c *halfWritten) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.fails {
		return c.Conn.Write(b)
	}
	if c.writes++; c.writes > 1 {
		return len(b), nil
	}
	return len(b) / 2, errors.New("the socket is full")
}

// Nothing follows one half of a frame: the server would take it for the other half.
func TestNothingFollowsHalfAFrame(t *testing.T) {
	for name, next := range map[string]func(*rig){
		"a ping":  func(*rig) { virtual.Sleep(80 * time.Millisecond) },
		"a close": func(r *rig) { r.Execute(events.SessionMachine, events.CloseSession{Session: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				p := newPipes(t, zkmem.Options{})
				var conn *halfWritten
				r := newRig(t,
					zkio.Config{Servers: []string{"mem:2181"},
						Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
							inner, err := p.dial(ctx, network, address)
							conn = &halfWritten{Conn: inner}
							return conn, err
						}})
				r.Execute(events.SessionMachine, events.Connect{Session: 1})
				r.await(events.ConnectionAttached)
				virtual.Sleep(5*time.Second - 40*time.Millisecond) // pings come every 5 s
				conn.mu.Lock()
				conn.fails = true
				conn.mu.Unlock()
				r.Execute(machine,
					events.Create{Call: r.call(), Path: "/n", Data: make([]byte, 100), Mode: events.Ephemeral})
				synctest.Wait()
				next(r)
				if got := r.await(events.ReplyCreate); got.Code != events.ConnectionLoss {
					t.Errorf("got %+v", got)
				}
				conn.mu.Lock()
				defer conn.mu.Unlock()
				if conn.writes != 1 {
					t.Errorf("%d writes", conn.writes)
				}
			})
		})
	}
}

// An answer to a transaction has a result for each of its operations. A connection whose server sends fewer or more
// ends.
func TestAnAnswerHasAllResults(t *testing.T) {
	const check, last = "\x00\x00\x00\x0d\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\x01\xff\xff\xff\xff"
	for results, want := range map[int]events.Code{0: events.ConnectionLoss, 1: events.ConnectionLoss, 2: events.OK,
		3: events.ConnectionLoss} {
		virtual.Test(t, func(t *testing.T) {
			r := badServerRig(t, zkio.Config{}, func(v badServer) {
				for {
					xid, _, err := v.request()
					if err != nil || !v.send(frame(xid, 5, strings.Repeat(check, results)+last)) {
						return
					}
				}
			})
			r.await(events.ConnectionAttached)
			op := events.Op{Verb: "check", Path: "/x", Version: -1}
			if got := r.ask(events.Multi{Call: r.call(), Ops: []events.Op{op, op}}); got.Code != want {
				t.Errorf("%d results of two operations: %+v", results, got)
			}
		})
	}
}
