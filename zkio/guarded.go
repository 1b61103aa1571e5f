package zkio

import (
	"context"
	"fmt"
	"net"

	"github.com/incumbent-go/incumbent/events"
)

// guarded calls a user's function on a goroutine of its own, so that neither a panic nor
// runtime.Goexit ends the connection's. It returns the function's error, or one that names the
// function.
func guarded(name string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := fmt.Errorf("%s ended its goroutine and did not return", name)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("%s panicked: %s", name, events.Foreign(fmt.Sprint(p), events.MaxText))
			}
			done <- err
		}()
		err = f()
	}()
	return <-done
}

// dialByUser calls Config.Dial.
func (a *Adapter) dialByUser(ctx context.Context, address string) (conn net.Conn, err error) {
	const name = "Config.Dial"
	err = guarded(name, func() (err error) {
		conn, err = a.cfg.Dial(ctx, "tcp", address)
		if err == nil && conn == nil {
			err = fmt.Errorf("%s returned neither a connection nor an error", name)
		}
		return err
	})
	return conn, err
}
