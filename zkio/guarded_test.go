package zkio_test

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"

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
		"nothing": {func() (net.Conn, error) { return nil, nil }, "Config.Dial returned neither a connection nor an error"},
		"panic":   {func() (net.Conn, error) { panic("oh\n\x1b[2J") }, `Config.Dial panicked: oh\n\x1b[2J`},
		"goexit":  {func() (net.Conn, error) { runtime.Goexit(); return nil, nil }, "Config.Dial ended its goroutine and did not return"},
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			r := newRig(t, zkio.Config{Servers: []string{srv.Addr()}, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
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
