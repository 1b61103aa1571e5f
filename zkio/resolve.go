package zkio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// network is how servers are reached, unless Config.Dial replaces it. Tests have one of their own.
type network struct {
	lookUp func(ctx context.Context, host string) ([]string, error)
	dial   func(ctx context.Context, address string) (net.Conn, error)
}

func systemNetwork() network {
	return network{
		lookUp: func(ctx context.Context, host string) ([]string, error) {
			return net.DefaultResolver.LookupHost(ctx, host)
		},
		dial: func(ctx context.Context, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", address)
		},
	}
}

// resolved has the addresses for one attempt, and why they may be old, or are missing.
type resolved struct {
	addresses []string
	err       error
}

// resolve returns the addresses of a server for one attempt. It asks the resolver again each time.
// If that fails, or takes longer than a quarter of the bound, the addresses of the last answer
// serve, with the error. The late answer is for the next attempt. There are none if Config.Dial
// resolves.
func (s *session) resolve(ctx context.Context, t *target) resolved {
	if s.a.cfg.Dial != nil {
		return resolved{}
	}
	if net.ParseIP(t.host) != nil {
		return resolved{addresses: []string{net.JoinHostPort(t.host, t.port)}}
	}
	r, known := s.askResolver(t)
	bound := s.a.hosts.bound(t, s.a.cfg.Now())
	wait := bound
	if known {
		wait = min(maxHeadStart, bound/4)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	err := fmt.Errorf("resolving %s: %w", t.host, errSilent)
	select {
	case <-r.ended:
		err = r.err
	case <-timer.C:
	case <-ctx.Done():
	}
	h := s.a.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	return resolved{t.inTurn(s.a.cfg.Now()), err}
}

// askResolver asks for the addresses of a server, unless that was asked and not answered yet. It
// reports whether there are addresses of an earlier answer.
func (s *session) askResolver(t *target) (r *resolution, known bool) {
	h := s.a.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.resolving == nil {
		r := &resolution{ended: make(chan struct{})}
		t.resolving = r
		s.a.work.Go(func() { s.awaitResolver(t, r) })
	}
	return t.resolving, len(t.addresses) > 0
}

func (s *session) awaitResolver(t *target, r *resolution) {
	ctx, cancel := context.WithTimeout(s.ctx, s.a.cfg.Handshake)
	defer cancel()
	addresses, err := s.a.network.lookUp(ctx, t.host)
	var dns *net.DNSError
	switch {
	case err == nil && len(addresses) == 0, errors.As(err, &dns) && dns.IsNotFound:
		err = fmt.Errorf("no such host: %s does not resolve", t.host)
	case err != nil:
		err = fmt.Errorf("resolving %s: %w", t.host, err)
	}
	h := s.a.hosts
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		t.setAddresses(addresses)
	}
	t.resolving, r.err = nil, err
	close(r.ended)
}
