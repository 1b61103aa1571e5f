package kerberos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// credential is a ticket with its key.
type credential struct {
	ticket           messages.Ticket
	key              types.EncryptionKey
	begin, end, till time.Time // till: it can be renewed until then
}

// leeway is how long before its end a ticket is no longer used, at most.
const leeway = 10 * time.Second

// usable reports whether a server would take the ticket now, and a moment later.
func (c credential) usable(now time.Time) bool {
	return now.Add(min(leeway, c.end.Sub(c.begin)/10)).Before(c.end)
}

// due returns when the ticket has to be renewed: Java's client does it after four fifths of its time, too.
func (c credential) due() time.Time { return c.begin.Add(c.end.Sub(c.begin) / 5 * 4) }

// source is where tickets come from: a KDC, by a keytab or a cache, or a test's.
type source interface {
	name() string // of the client's principal
	// login returns a ticket of the KDC's own, by which others are had.
	login() (credential, error)
	// renew returns one that ends later than old.
	renew(old credential) (credential, error)
	ticket(tgt credential, to service) (credential, error)
}

// unanswered is the error of a KDC or a domain name system that does not answer: it may pass.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func isUnanswered(err error) bool {
	var u unanswered
	return errors.As(err, &u)
}

var errClosed = errors.New("the mechanism is closed")

// retryAtMost and retryAtLeast bound the pause after a renewal that failed, which is a tenth of what is left of the
// ticket. No renewal follows another within retryAtLeast.
const (
	retryAtMost  = time.Minute
	retryAtLeast = time.Second
)

// tickets holds the tickets of one principal.
type tickets struct {
	from source
	turn chan struct{} // holds a value while a KDC is asked: gokrb5's configuration is for one goroutine

	mu       sync.Mutex
	tgt      credential
	services map[service]*held
	flights  map[service]*flight
	timer    *time.Timer
	closed   bool
	work     sync.WaitGroup
}

// held is the ticket of a service.
type held struct {
	credential
	asked time.Time // when a KDC was asked for it
	open  bool      // the login that was begun last has not ended with the server's consent
}

// doubtful reports whether the server may have refused the ticket: it may have a new key.
func (h *held) doubtful(now time.Time) bool { return h.open && now.Sub(h.asked) >= askAgain }

// askAgain is how long a KDC is not asked again for a ticket that a server has refused.
const askAgain = time.Minute

// flight is a ticket that is being asked for. Who waits for it may give up; what comes of it is kept.
type flight struct {
	done   chan struct{}
	ticket credential
	err    error
	old    credential // that could be used, if there is one
}

// bound returns a context for the wait, which leaves time to use the old ticket.
func (f *flight) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded || f.old.end.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(end)/2)
}

func newTickets(from source) *tickets {
	return &tickets{
		from: from, turn: make(chan struct{}, 1), services: map[service]*held{}, flights: map[service]*flight{},
	}
}

// get returns a ticket for a service, and begins a login with it.
func (t *tickets) get(ctx context.Context, to service) (credential, error) {
	f, err := t.begin(to)
	if err != nil {
		return credential{}, err
	}
	ctx, cancel := f.bound(ctx)
	defer cancel()
	select {
	case <-f.done:
	case <-ctx.Done():
		if f.old.usable(time.Now()) {
			return f.old, nil
		}
		return credential{}, unanswered{fmt.Errorf("no KDC has answered in time for a ticket for %s", to)}
	}
	if f.err == nil {
		t.login(to, true)
	}
	return f.ticket, f.err
}

// login keeps whether the last login with the ticket of a service is open, or has ended with the server's consent.
func (t *tickets) login(to service, open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h := t.services[to]; h != nil {
		h.open = open
	}
}

// begin returns a flight that has ended, if there is a ticket already, or one that is under way.
func (t *tickets) begin(to service) (*flight, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, errClosed
	}
	if f := t.flights[to]; f != nil {
		return f, nil
	}
	f := &flight{done: make(chan struct{})}
	now := time.Now()
	old := t.services[to]
	if old != nil && old.usable(now) {
		if !old.doubtful(now) {
			f.ticket = old.credential
			close(f.done)
			return f, nil
		}
		f.old = old.credential
	}
	t.flights[to] = f
	t.work.Go(func() { t.fly(f, to) })
	return f, nil
}

// fly gets a ticket for a service.
func (t *tickets) fly(f *flight, to service) {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	f.ticket, f.err = t.fetch(to)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	switch old := t.services[to]; {
	case f.err == nil:
		t.services[to] = &held{credential: f.ticket, asked: now}
	case old != nil && old.usable(now): // the server may not have refused it: the connection may have been lost
		old.asked = now
		f.ticket, f.err = old.credential, nil
	}
	delete(t.flights, to)
	close(f.done)
}

// fetch asks for a ticket, first with the TGT that there is. A refusal of one with an old TGT is asked again with a
// new one: the KDC may have new keys.
func (t *tickets) fetch(to service) (credential, error) {
	t.mu.Lock()
	tgt := t.tgt
	t.mu.Unlock()
	if tgt.usable(time.Now()) {
		c, err := t.from.ticket(tgt, to)
		if err == nil || isUnanswered(err) {
			return c, err
		}
	}
	tgt, err := t.from.login()
	if err != nil {
		return credential{}, err
	}
	t.hold(tgt)
	return t.from.ticket(tgt, to)
}

// hold keeps a TGT, and sets the timer of its renewal.
func (t *tickets) hold(tgt credential) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tgt = tgt
	t.renewAt(tgt.due())
}

// renewAt sets the timer, which is not due at once: a KDC whose clock is behind gives tickets that are due. t.mu is
// locked.
func (t *tickets) renewAt(at time.Time) {
	if t.timer != nil {
		t.timer.Stop()
	}
	if !t.closed {
		t.timer = time.AfterFunc(max(retryAtLeast, time.Until(at)), t.renewal)
	}
}

// renewal is called by the timer.
func (t *tickets) renewal() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.work.Go(t.renew)
	}
}

// renew replaces the TGT, and with it the tickets of all services. If that fails, it is tried again while the old TGT
// lasts, and then by the next login.
func (t *tickets) renew() {
	t.turn <- struct{}{}
	defer func() { <-t.turn }()
	t.mu.Lock()
	old := t.tgt
	have := slices.Collect(maps.Keys(t.services))
	t.mu.Unlock()
	tgt, err := t.from.renew(old)
	if err != nil {
		t.retry(old)
		return
	}
	t.hold(tgt)
	for _, to := range have {
		c, err := t.from.ticket(tgt, to)
		t.mu.Lock()
		if err == nil {
			t.services[to] = &held{credential: c, asked: time.Now()}
		}
		t.mu.Unlock() // if it failed, the old one is used to its end
	}
}

// retry sets the timer after a renewal that failed.
func (t *tickets) retry(old credential) {
	left := time.Until(old.end)
	if left <= 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renewAt(time.Now().Add(min(retryAtMost, left/10)))
}

func (t *tickets) close() {
	t.mu.Lock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
	t.mu.Unlock()
	t.work.Wait()
}
