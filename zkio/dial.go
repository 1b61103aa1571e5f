package zkio

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/incumbent-go/incumbent/events"
)

// dial is the keeper's dialer. It chooses the server, and pauses before. The connection that it returns is in its
// handshake. The attempt as a whole has one deadline from here on, and each of its steps the bound of hosts.
func (s *session) dial() (net.Conn, error) {
	target, pause := s.a.hosts.next(s.a.cfg.Now())
	s.a.signs.request(s.a.cfg.Now())
	if !s.progress() || !sleep(s.ctx, pause) || s.awaitLoop() && s.ctx.Err() != nil {
		return nil, errOver
	}
	began := s.a.cfg.Now()
	ctx, cancel := context.WithTimeout(s.ctx, s.a.cfg.Handshake)
	defer cancel()
	at := s.resolve(ctx, target)
	bound := s.a.hosts.bound(target, s.a.cfg.Now())
	conn, err := s.dialServer(ctx, target, bound, at)
	var sasl *login
	if err == nil {
		if sasl, err = s.startLogin(ctx, target, conn); err != nil {
			_ = conn.Close()
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, errOver
	}
	s.restartWatchdog()
	deadline, _ := ctx.Deadline()
	if err == nil {
		err = conn.SetDeadline(deadline)
	}
	w := newWire(conn, s, target.server)
	w.target, w.dialledAt, w.bound, w.deadline, w.sasl = target, began, bound, deadline, sasl
	if conn != nil {
		w.address = remoteAddress(conn)
	}
	if err != nil {
		s.refuse(w, err)
		return nil, err
	}
	s.dialled = w
	return w, nil
}

// progress resets the watchdog, because the keeper is alive, and reports whether the session
// is.
func (s *session) progress() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.restartWatchdog()
	}
	return !s.over
}

// dialServer connects to one server, "host:port" as configured. Its errors name that
// server.
func (s *session) dialServer(ctx context.Context, t *target, bound time.Duration, at resolved) (net.Conn, error) {
	conn, err := s.dialTarget(ctx, t, bound, at)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.server, withoutAddress(err))
	}
	if s.a.cfg.TLS == nil {
		return conn, nil
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	secured, err := s.a.cfg.TLS.client(ctx, conn, t.host, &s.a.own)
	if err != nil {
		_ = conn.Close()
		err = fmt.Errorf("%s: %w", t.server, err)
		if endOf(err) == events.ConnectionEndSilent {
			s.a.hosts.silent(t, remoteAddress(conn), s.a.cfg.Now())
		}
		return nil, err
	}
	return secured, nil
}

// withoutAddress returns why a dial failed, without the address that net adds.
func withoutAddress(err error) error {
	if op, ok := err.(*net.OpError); ok && op.Op == "dial" && op.Err != nil {
		return op.Err
	}
	return err
}

// dialTarget connects to one of the addresses of a server.
func (s *session) dialTarget(ctx context.Context, t *target, bound time.Duration, at resolved) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if s.a.cfg.Dial != nil {
		return s.a.dialByUser(ctx, t.server)
	}
	if len(at.addresses) == 0 {
		return nil, at.err
	}
	conn, err := s.race(ctx, t, at.addresses, bound)
	if err != nil && at.err != nil {
		return nil, fmt.Errorf("%w; and %v: this was the address that it had", err, at.err)
	}
	return conn, err
}

// dialByUser calls Config.Dial.
func (a *Adapter) dialByUser(ctx context.Context, address string) (conn net.Conn, err error) {
	const name = "Config.Dial"
	err = guarded(name, func() (err error) {
		conn, err = a.cfg.Dial(ctx, "tcp", address)
		if err == nil && isNil(conn) {
			err = fmt.Errorf("%s returned neither a connection nor an error", name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return userConn{conn}, nil
}
