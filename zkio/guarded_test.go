package zkio_test

import (
	"context"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/zkio"
	"github.com/incumbent-go/incumbent/zkio/zkmem"
)

// TestADialThatMisbehavesIsOneFailedAttempt lets Config.Dial fail in every way of a function once; the
// next attempt succeeds.
func TestADialThatMisbehavesIsOneFailedAttempt(t *testing.T) {
	srv := zkmem.Start(t)
	for name, one := range map[string]struct {
		dial func() (net.Conn, error)
		want string
	}{
		"nothing": {func() (net.Conn, error) {
			return nil, nil
		}, "Config.Dial returned neither a connection nor an error"},
		"panic": {func() (net.Conn, error) { panic("oh\n\x1b[2J") }, `Config.Dial panicked: oh\n\x1b[2J`},
		"goexit": {func() (net.Conn, error) {
			runtime.Goexit()
			return nil, nil
		}, "Config.Dial ended its goroutine and did not return"},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			r := newRig(t,
				zkio.Config{Servers: []string{srv.Addr()},
					Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
						if tries++; tries == 1 {
							return one.dial()
						}
						var d net.Dialer
						return d.DialContext(ctx, network, address)
					}})
			r.Execute(events.SessionMachine, events.Connect{Session: 1})
			if got := r.await(events.ConnectionRefused); !strings.Contains(got.Text, one.want) {
				t.Errorf("%q, want %q", got.Text, one.want)
			}
			r.await(events.ConnectionAttached)
		})
	}
}

// onceBrokenConn is a connection of a user whose Read or Write does not return once.
type onceBrokenConn struct {
	net.Conn
	read, write func()
}

func (c onceBrokenConn) Read(b []byte) (int, error)  { c.read(); return c.Conn.Read(b) }
func (c onceBrokenConn) Write(b []byte) (int, error) { c.write(); return c.Conn.Write(b) }

// TestAConnectionThatMisbehavesIsReplaced lets the methods of a connection of Config.Dial panic or end their
// goroutine once.
func TestAConnectionThatMisbehavesIsReplaced(t *testing.T) {
	srv := zkmem.Start(t)
	for name, act := range map[string]func(){"panic": func() { panic("oh") }, "goexit": runtime.Goexit} {
		for _, method := range []string{"Read", "Write"} {
			t.Run(method+" "+name, func(t *testing.T) {
				var done atomic.Bool
				once := func(of string) func() {
					return func() {
						if of == method && done.CompareAndSwap(false, true) {
							act()
						}
					}
				}
				r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Timeout: 2 * time.Second,
					Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
						var d net.Dialer
						conn, err := d.DialContext(ctx, network, address)
						if err != nil {
							return nil, err
						}
						return onceBrokenConn{conn, once("Read"), once("Write")}, nil
					}})
				r.Execute(events.SessionMachine, events.Connect{Session: 1})
				r.await(events.ConnectionAttached)
			})
		}
	}
}
