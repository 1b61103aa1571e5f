package zkio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// dial is zk.Conn's dialer. It chooses the server itself: zk.Conn would resolve names once
// and pass on addresses instead of names. The connection that it returns is in its
// handshake, which has one deadline from here on.
func (s *session) dial(_, _ string, _ time.Duration) (net.Conn, error) {
	server, pause, visit := s.a.hosts.next()
	s.a.signs.request(s.a.cfg.Now())
	if !s.progress() || !sleep(s.ctx, pause) || s.awaitLoop() && s.ctx.Err() != nil {
		return nil, errOver
	}
	began := s.a.cfg.Now()
	ctx, cancel := context.WithTimeout(s.ctx, s.a.cfg.Handshake)
	defer cancel()
	conn, err := s.a.dialServer(ctx, server, visit)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, errOver
	}
	s.restartWatchdog()
	if err == nil {
		deadline, _ := ctx.Deadline()
		err = conn.SetDeadline(deadline)
	}
	if err != nil {
		s.refuse(server, err, began)
		return nil, err
	}
	s.dialled = newWire(conn, s, server)
	s.dialled.dialledAt = began
	return s.dialled, nil
}

// progress resets the watchdog, because zk.Conn is alive, and reports whether the session
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
func (a *Adapter) dialServer(ctx context.Context, server string, visit int) (net.Conn, error) {
	host, port, err := net.SplitHostPort(server)
	if err != nil {
		return nil, err
	}
	conn, err := a.dialHost(ctx, host, port, visit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", server, withoutAddress(err))
	}
	if a.cfg.TLS == nil {
		return conn, nil
	}
	secured, err := a.cfg.TLS.client(ctx, conn, host)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("%s: %w", server, err)
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

// dialHost resolves the name again. If it has several addresses, every visit takes the
// next, so that one dead address does not block the server.
func (a *Adapter) dialHost(ctx context.Context, host, port string, visit int) (net.Conn, error) {
	if a.cfg.Dial != nil {
		return a.cfg.Dial(ctx, "tcp", net.JoinHostPort(host, port))
	}
	addresses := []string{host}
	if net.ParseIP(host) == nil {
		var err error
		if addresses, err = net.DefaultResolver.LookupHost(ctx, host); err != nil {
			var dns *net.DNSError
			if errors.As(err, &dns) && dns.IsNotFound {
				return nil, fmt.Errorf("no such host: %s does not resolve", host)
			}
			return nil, fmt.Errorf("resolving %s: %w", host, err)
		}
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", pickAddress(addresses, visit, port))
}
