package zkio

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// maxHeadStart is how long the next address of a server waits for the one before (RFC 8305).
const maxHeadStart = 300 * time.Millisecond

// dialled is what became of one address.
type dialled struct {
	address string
	conn    net.Conn
	err     error
}

// race dials the addresses of a server one after the other, each with a head start, and immediately
// when the one before has failed. It returns the first connection, and closes the others. An
// address that was dialled and had not answered by then counts as silent.
func (s *session) race(ctx context.Context, t *target, addresses []string, bound time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	headStart := maxHeadStart
	if n := len(addresses); n > 1 { // the last one is dialled at half of the bound
		headStart = min(headStart, bound/2/time.Duration(n-1))
	}
	results := make(chan dialled, len(addresses))
	waiting := addresses
	pending := map[string]bool{}
	next := time.NewTimer(headStart)
	defer next.Stop()
	start := func() {
		address := waiting[0]
		waiting, pending[address] = waiting[1:], true
		s.a.hosts.tried(t, address)
		s.a.work.Go(func() {
			conn, err := s.a.network.dial(ctx, address)
			results <- dialled{address, conn, err}
		})
		next.Reset(headStart)
	}
	var failed []dialled
	start()
	for len(pending) > 0 {
		select {
		case <-next.C:
			if len(waiting) > 0 {
				start()
			}
		case r := <-results:
			delete(pending, r.address)
			if r.err == nil {
				s.leaveRace(t, pending, results)
				return r.conn, nil
			}
			failed = append(failed, r)
			s.noteFailedDial(t, r)
			if len(waiting) > 0 && ctx.Err() == nil {
				start()
			}
		}
	}
	return nil, raceError(failed)
}

// leaveRace notes the addresses that have not answered as silent, and closes what still comes of them.
func (s *session) leaveRace(t *target, pending map[string]bool, results <-chan dialled) {
	for address := range pending {
		s.a.hosts.silent(t, address, s.a.cfg.Now())
	}
	late := len(pending)
	s.a.work.Go(func() {
		for range late {
			if r := <-results; r.conn != nil {
				_ = r.conn.Close()
			}
		}
	})
}

// noteFailedDial notes that an address was silent, or that it was not.
func (s *session) noteFailedDial(t *target, r dialled) {
	var timeout net.Error
	if errors.As(r.err, &timeout) && timeout.Timeout() {
		s.a.hosts.silent(t, r.address, s.a.cfg.Now())
		return
	}
	s.a.hosts.answered(t, r.address)
}

// raceError returns the error of an attempt in which no address could be dialled.
func raceError(failed []dialled) error {
	if len(failed) == 1 {
		return withoutAddress(failed[0].err)
	}
	texts := make([]string, len(failed))
	errs := make([]error, len(failed))
	for i, r := range failed {
		errs[i] = withoutAddress(r.err)
		texts[i] = fmt.Sprintf("%s: %v", r.address, errs[i])
	}
	return &noAddress{strings.Join(texts, ", "), errs}
}

// noAddress is the error of an attempt at several addresses.
type noAddress struct {
	text string
	errs []error
}

func (e *noAddress) Error() string   { return e.text }
func (e *noAddress) Unwrap() []error { return e.errs }
