package zkmem

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"github.com/incumbent-go/incumbent/test/kit/virtual"
)

// scarce is a listener without free files for some tries, which then ends.
type scarce struct {
	net.Listener
	left int
}

func (s *scarce) Accept() (net.Conn, error) {
	if s.left == 0 {
		return nil, net.ErrClosed
	}
	s.left--
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

func (s *scarce) Close() error   { return nil }
func (s *scarce) Addr() net.Addr { return &net.TCPAddr{} }

// A server goes on to accept however long there are no free files, and says so when a listener ends.
func TestAcceptGoesOnAndItsEndIsReported(t *testing.T) {
	virtual.Test(t, func(t *testing.T) {
		s, l := New(Options{}), &scarce{left: 1000}
		defer s.Close()
		if err := s.Serve(l); !errors.Is(err, net.ErrClosed) || l.left != 0 {
			t.Errorf("%v, %d tries left", err, l.left)
		}
		if err := <-s.ListenerFailed(); !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
}
