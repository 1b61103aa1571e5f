package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// dial connects to a server, encrypted if the settings say so. The connection ends with the context, and all that is
// done with it has to be done within the time for one step: see within.
func (s Settings) dial(ctx context.Context, address string) (net.Conn, error) {
	return s.dialSeen(ctx, address, nil)
}

// dialSeen is dial, and shows what TLS has verified.
func (s Settings) dialSeen(ctx context.Context, address string, seen func(tls.ConnectionState)) (net.Conn, error) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, s.Step)
	defer cancel()
	conn, err := s.Dial(ctx, address)
	if err != nil {
		return nil, ended(whole, s.plain(err))
	}
	if s.TLS == nil {
		return conn, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	secured, err := s.secure(ctx, conn, host, seen)
	if err != nil {
		_ = conn.Close() // the error of the handshake says more
		return nil, ended(whole, s.plain(err))
	}
	return secured, nil
}

// plain returns an error of the network in words that say what a server did not do.
func (s Settings) plain(err error) error {
	var slow net.Error
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return unresolved{dns.Name}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &slow) && slow.Timeout():
		return silence{s.Step}
	case errors.As(err, &op) && op.Err != nil && err == error(op): // without the ports, which differ each time
		return fmt.Errorf("%s: %w", op.Op, op.Err)
	}
	return err
}

// unresolved is the error of a name that has no address.
type unresolved struct{ name string }

func (u unresolved) Error() string { return "the name " + u.name + " does not resolve" }

// cutShort is the error of what the end of the examination cut short: it says nothing of the server.
type cutShort struct{ error }

func isCut(err error) bool { return errors.As(err, &cutShort{}) }

// ended returns an error that says so if there is one and the examination has ended: what failed then was cut short.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return cutShort{context.Cause(ctx)}
	}
	return err
}

// outliving returns a context that ends that long after ctx.
func outliving(ctx context.Context, by time.Duration) (context.Context, func()) {
	late, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	over := func() { cancel(errors.New("there was no more time")) }
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(by, over) })
	return late, func() {
		stop()
		over()
	}
}

// silence is the error of a server that did not answer within the time for a step.
type silence struct{ within time.Duration }

func (s silence) Error() string { return fmt.Sprintf("no answer within %s", s.within) }

func silent(err error) bool { return errors.As(err, &silence{}) }
