package zkio

import (
	"errors"
	"net"
	"reflect"
	"time"

	"github.com/incumbent-go/incumbent/events"
	"github.com/incumbent-go/incumbent/internal/usercode"
)

// guarded calls a user's function, so that neither a panic nor runtime.Goexit ends a goroutine of the
// connection. It returns the function's error, or one that names the function.
func guarded(name string, f func() error) error { return named(name, usercode.Call(f)) }

// named returns the error of a user's function; if that did not return, one that names it.
func named(name string, err error) error {
	var failed *usercode.Error
	if !errors.As(err, &failed) {
		return err
	}
	return errors.New(events.Foreign(failed.By(name), events.MaxText))
}

// isNil reports whether an interface is nil, or has a nil pointer.
func isNil(v any) bool {
	of := reflect.ValueOf(v)
	return v == nil || of.Kind() == reflect.Pointer && of.IsNil()
}

// userConn is a connection of Config.Dial. A method that does not return has failed.
type userConn struct{ net.Conn }

func (c userConn) call(f func() error) error { return guarded("a connection of Config.Dial", f) }

func (c userConn) Read(b []byte) (n int, err error) {
	err = c.call(func() (err error) { n, err = c.Conn.Read(b); return err })
	return n, err
}

func (c userConn) Write(b []byte) (n int, err error) {
	err = c.call(func() (err error) { n, err = c.Conn.Write(b); return err })
	return n, err
}

func (c userConn) Close() error { return c.call(c.Conn.Close) }

func (c userConn) SetDeadline(t time.Time) error {
	return c.call(func() error { return c.Conn.SetDeadline(t) })
}

func (c userConn) SetReadDeadline(t time.Time) error {
	return c.call(func() error { return c.Conn.SetReadDeadline(t) })
}

func (c userConn) SetWriteDeadline(t time.Time) error {
	return c.call(func() error { return c.Conn.SetWriteDeadline(t) })
}

// RemoteAddr returns nil if the connection has none.
func (c userConn) RemoteAddr() (address net.Addr) {
	_ = c.call(func() error { address = c.Conn.RemoteAddr(); return nil }) // nobody needs it
	return address
}
