package zkio_test

import (
	"context"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/test/kit/virtual"
	"github.com/incumbent-go/incumbent/zkio"
)

// A server that answers a token in part, and then says nothing or closes the connection, ends only the connection: the
// session goes on at the next attempt, and the text names the login.
func TestHalfOfAnAnswerToALogin(t *testing.T) {
	for want, closes := range map[string]bool{"silent for too long": false, "closed by the server": true} {
		t.Run(want, func(t *testing.T) {
			virtual.Test(t, func(t *testing.T) {
				m, srv := twoTokens()
				var half atomic.Bool
				r := saslRig(t, m, srv, func(c *zkio.Config) {
					c.Dial = func(ctx context.Context, network, server string) (net.Conn, error) {
						conn, err := srv.dial(ctx, network, server)
						if half.CompareAndSwap(true, false) {
							conn = &halved{Conn: conn, left: len(granted) + 9, closes: closes}
						}
						return conn, err
					}
				})
				first := r.await(events.ConnectionAttached)
				half.Store(true)
				srv.cut()
				began := time.Now()
				e := r.await(events.ConnectionRefused, events.ConnectionLost)
				if e.Kind != events.ConnectionRefused || e.Code != events.ConnectionLoss ||
					e.Text != "zk.example:2181: in the SASL login by MADE-UP (ann): "+want {
					t.Errorf("%s %s %q", e.Kind, e.Code, e.Text)
				}
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
				if e := r.await(events.ConnectionAttached, events.ConnectionLost); e.SessionID != first.SessionID {
					t.Errorf("%s: %s", e.Kind, e.Text)
				}
			})
		})
	}
}

// halved is a connection of which so many bytes arrive.
type halved struct {
	net.Conn
	left   int
	closes bool
}

func (h *halved) Read(b []byte) (int, error) {
	if h.left == 0 {
		if h.closes {
			return 0, io.EOF
		}
		b = make([]byte, 1) // until the deadline
		for {
			if _, err := h.Conn.Read(b); err != nil {
				return 0, err
			}
		}
	}
	n, err := h.Conn.Read(b[:min(len(b), h.left)])
	h.left -= n
	return n, err
}

// A mechanism that never returns is asked a few times only: a call that is given up keeps a goroutine. Once its calls
// return, it is asked again.
func TestAMechanismThatHangsIsNotAskedWithoutEnd(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		m, srv := twoTokens()
		var asked atomic.Int32
		hangs := make(chan struct{})
		m.start = func(context.Context, zkio.SASLServer) ([]byte, error) {
			asked.Add(1)
			<-hangs
			return []byte("hello"), nil
		}
		r := saslRig(t, m, srv, func(c *zkio.Config) { c.Backoff = time.Second })
		before := runtime.NumGoroutine()
		virtual.Sleep(time.Hour)
		if n, more := asked.Load(), runtime.NumGoroutine()-before; n != 8 || more > 10 {
			t.Errorf("it was asked %d times, and %d goroutines are more", n, more)
		}
		var last events.Event
		for _, e := range r.rest() {
			last = e.Event
		}
		if want := "8 of its calls have not returned"; !strings.Contains(last.Text, want) {
			t.Errorf("%q, want %q", last.Text, want)
		}
		close(hangs)
		r.await(events.ConnectionAttached)
	})
}

// The end of the adapter ends a login: its mechanism's context ends, and nothing waits for the time that it had.
func TestCloseEndsALogin(t *testing.T) {
	for _, first := range []bool{true, false} {
		virtual.Test(t, func(t *testing.T) {
			m, srv := twoTokens()
			begun, ended := make(chan struct{}), make(chan error, 1)
			wait := func(ctx context.Context) error {
				close(begun)
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return ctx.Err()
			}
			if first {
				m.start = func(ctx context.Context, _ zkio.SASLServer) ([]byte, error) { return nil, wait(ctx) }
			} else {
				m.next = func(ctx context.Context, _ []byte) ([]byte, bool, error) { return nil, false, wait(ctx) }
			}
			r := saslRig(t, m, srv)
			<-begun
			start := time.Now()
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took > 3*time.Second || <-ended == nil {
				t.Errorf("it took %s", took)
			}
			for _, e := range r.rest() {
				t.Errorf("then came %+v", e)
			}
		})
	}
}
